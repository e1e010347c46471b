"""Checks who includes whom and who touches the world: rooms.py [--objects BUILD-FOLDER] [--self-test].

The rule: a file includes only its own room and rooms of lower rank; rooms of one rank never
include each other. Only in host/: curl, threads; only there and in program/: libuv, clocks, processes. OpenSSL only in
codec/digest.c and es256.c, printing only in cli/. Files of a room never call each other in a circle. In core/, lease/,
guest/, admin/ and sandbox/ a file calls downwards by the floors that a header of the room draws. In the first three a
file sees no header with functions of a higher floor, and looks into its own parts of the objects only. A file includes
the headers whose names it uses, and no others. A life is a table of states of base/states.h. With --objects the
compiled core and aws objects are read too: what a macro or a header of another hides from the text, the symbol table
shows; and every file of test/unit and test/story is in a program.
"""

import collections
import fnmatch
import functools
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
RANK = {
    "base": 0, "codec": 1, "host": 2, "program": 3, "aws": 3, "core": 3,
    "lease": 4, "sandbox": 4, "source": 5, "store": 5, "admin": 5, "guest": 6, "api": 7, "cli": 8, "bind": 8,
}
# The sandbox is the judge of aws and core, and no part of the library. (Rank alone would let them meet.)
NEVER = {("sandbox", "aws"), ("sandbox", "core"), ("api", "sandbox"), ("lease", "aws"), ("admin", "aws"), ("source", "lease"),
         ("guest", "aws"), ("guest", "admin"), ("guest", "source"),
         # What whole programs need is no part of the library.
         *((room, "program") for room in ("lease", "sandbox", "source", "store", "admin", "guest", "api"))}
# sloop.h holds the error numbers, so every room may see it; the other two are for their makers and users.
PUBLIC_HEADERS = {"sloop.h": set(RANK), "sloop_admin.h": {"admin", "api", "cli", "bind"}, "sloop_sandbox.h": {"sandbox", "cli"}}

SYSTEM_HEADERS = [  # header pattern, who may include it ("room" or "room/file"), why
    (r"uv(\.h|/.*)", {"host", "program", "bind"}, "libuv lives in host/, program/ and bind/"),
    (r"Python\.h|node_api\.h", {"bind"}, "each language has its folder in bind/"),
    (r"curl/.*", {"host"}, "curl lives in host/"),
    (r"openssl/.*", {"codec/digest.c", "codec/es256.c"}, "OpenSSL lives in codec/digest.c and es256.c"),
    (r"zlib\.h", {"codec"}, "zlib lives in codec/"),
    (r"zstd(_errors)?\.h", {"cli/decode_zstd.c"}, "each packer has its file"),
    (r"lz4\w*\.h", {"cli/decode_lz4.c"}, "each packer has its file"),
    (r"snappy\S*\.h", {"cli/decode_snappy.c"}, "each packer has its file"),
    (r"brotli/.*", {"cli/decode_brotli.c"}, "each packer has its file"),
    (r"nghttp2/.*", {"sandbox/h2_inside.h"}, "HTTP/2 is the sandbox's"),
    (r"sqlite3\.h", {"store"}, "SQLite lives in store/"),
    (r"pthread\.h|threads\.h", {"host", "bind"}, "one thread"),
    (r"(sys/)?time\.h|sys/times\.h|sys/timeb\.h", {"host", "program"}, "clocks live in host/"),
    (r"sys/(socket|epoll|select|poll|wait)\.h|poll\.h|netinet/.*|arpa/.*|netdb\.h", {"host", "program", "bind/python/py_loop.c"}, "the net is host/'s"),
    (r"locale\.h|ctype\.h|wctype\.h|setjmp\.h", set(), "locale and long jumps are banned"),
]
NOT_OUTSIDE = [  # function, where it may be used, why
    (r"strcpy|strcat|sprintf|vsprintf|strncpy|strncat|stpcpy|gets|strtok|strtok_r", set(), "unbounded or surprising"),
    (r"atoi|atol|atoll|atof|strtol|strtoul|strtoll|strtoull|sscanf|fscanf|scanf", set(),
     "numbers are parsed by base/num"),
    (r"strtod|strtof|strtold", {"cli/json_number.c"},  # which reads only what it has just written itself
     "numbers are parsed by base/num"),
    (r"isalpha|isdigit|isalnum|isspace|isupper|islower|isprint|toupper|tolower|strcasecmp|strncasecmp", set(),
     "depends on the locale"),
    (r"alloca|rand|srand|random|srandom|drand48|rand_r", set(), "banned"),
    (r"malloc|calloc|realloc|free|strdup|strndup|asprintf|vasprintf|posix_memalign|aligned_alloc", {"base/mem.c"},
     "memory comes from base/mem.h"),
    (r"time|gettimeofday|clock_gettime|clock|localtime|gmtime|localtime_r|gmtime_r|mktime|timegm|strftime|strptime",
     {"host", "program"}, "clocks live in host/; dates in codec/date"),
    (r"sleep|usleep|nanosleep|poll|select|epoll_wait", {"host", "program", "bind/python/py_loop.c"}, "nothing blocks"),
    (r"getrandom|getentropy|arc4random\w*|RAND_bytes", {"host"}, "randomness comes from host/"),
    (r"printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|putc|fputc|fwrite|perror|fopen|fdopen|fread|fgets|fgetc",
     {"cli", "base/base.c"}, "printing is cli/'s; base.c's is the last word of a failed check"),
    (r"curl_easy_perform|curl_easy_recv|curl_easy_send", set(), "blocks"),
    (r"uv_run|uv_default_loop|uv_stop", {"program/process.c", "bind/python/py_loop.c"}, "the loop is the user's"),
    (r"pthread_\w+|thrd_\w+|mtx_\w+|uv_thread_\w+|uv_mutex_\w+", {"host", "bind/python/py_module.c"}, "one thread"),
    (r"system|popen|fork|vfork|execve|execv|execvp|execl|execlp|posix_spawn\w*", {"host", "program"}, "processes are host/'s"),
    (r"getenv|secure_getenv|setenv|putenv", {"host", "cli", "aws/aws.c"}, "the environment is handed in"),
    (r"exit|_exit|quick_exit", {"cli", "program"}, "a library never ends the program"),
    (r"signal|sigaction|sigprocmask|pthread_sigmask", {"host", "program"}, "signals are the program's"),
    (r"setlocale|setjmp|longjmp", set(), "banned"),
]
# Symbols that objects of core and aws may not ask the linker for.
WORLD_SYMBOLS = re.compile(
    r"^(uv_\w+|curl_\w+|clock_gettime|clock|time|gettimeofday|rand|random|srand|srandom|rand_r|drand48|getrandom|"
    r"getentropy|arc4random\w*|sleep|usleep|nanosleep|poll|select|epoll_\w+|socket|connect|open|open64|fopen|fopen64|"
    r"pthread_create|fork|execve|system|SSL_\w+|RAND_\w+|EVP_\w+|HMAC|malloc|calloc|realloc|free)$")
WORLD_FREE_ROOMS = ("core", "aws", "source", "lease", "admin", "guest")
LINES_MAX, COLUMNS_MAX = 900, 110
# room, the header that draws its floors
DRAWINGS = {"core": "core.h", "lease": "fleet_inside.h", "guest": "guest.h", "admin": "command_inside.h",
            "sandbox": "model.h"}
# Here a file looks into its own parts of the objects only, and sees no higher floor: the headers with the objects of the
# room, which include the headers of all their parts.
OBJECTS = {
    "core": ["engine_inside.h", "consumer_inside.h", "shard_inside.h"],
    "lease": ["fleet_inside.h"],
    "guest": ["guest.h"],
}
HEADERS_MAX = 9  # of its own room, that a header includes which has no objects
FOR_ALL = "base/base.h"  # what every file may use need not be included by each


@functools.cache
def strip_c(text):
    """Blanks comments and string contents, keeps every newline, so that line numbers stay right."""
    out, i = [], 0
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    for match in pattern.finditer(text):
        out.append(text[i:match.start()])
        token = match[0]
        out.append('""' if token[0] == '"' else "0" if token[0] == "'" else "\n" * token.count("\n") or " ")
        i = match.end()
    return "".join(out) + text[i:]


def allowed(path, places):
    """path is "room/file.c"; places holds rooms and single files."""
    return path in places or path.split("/")[0] in places


def check_include(path, number, line):
    match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
    if not match:
        return []
    room, name = path.split("/")[0], match[2]
    where = f"src/{path}:{number}"
    for pattern, places, why in SYSTEM_HEADERS:
        if re.fullmatch(pattern, name) and not allowed(path, places):
            return [f"{where}: includes <{name}>: {why}"]
    if name in PUBLIC_HEADERS:
        if room not in PUBLIC_HEADERS[name]:
            return [f"{where}: {room}/ may not see {name}"]
        return []
    target = name.split("/")[0]
    if match[1] == "<" or "/" not in name:
        return [] if match[1] == "<" else [f'{where}: "{name}": write the room: "{room}/{name}"']
    if ".." in name or target not in RANK:
        return [f'{where}: "{name}" is in no room']
    if target != room and (RANK[target] >= RANK[room] or (room, target) in NEVER):
        return [f"{where}: {room}/ (rank {RANK[room]}) may not include {target}/ (rank {RANK[target]})"]
    return []


def check_text(path, text):
    """All findings in one file; path is relative to src/."""
    if path.split("/")[0] not in RANK:
        return [f"src/{path}: in no room"]
    found = []
    raw = text.split("\n")
    if len(raw) > LINES_MAX:
        found.append(f"src/{path}: {len(raw)} lines, at most {LINES_MAX}")
    for number, line in enumerate(raw, 1):
        found += check_include(path, number, line)
        if len(line) > COLUMNS_MAX:
            found.append(f"src/{path}:{number}: {len(line)} columns, at most {COLUMNS_MAX}")
        if "\t" in line or line != line.rstrip():
            found.append(f"src/{path}:{number}: a tab or a space at the end")
    code = strip_c(text).split("\n")
    for names, places, why in NOT_OUTSIDE:
        if allowed(path, places):
            continue
        call = re.compile(rf"(?<![\w.>])({names})\s*\(")
        for number, line in enumerate(code, 1):
            match = call.search(line)
            if match and not line.lstrip().startswith("#"):
                found.append(f"src/{path}:{number}: {match[1]}(): {why}")
    return found


def check_tree(src):
    found = []
    for folder, _, names in sorted(os.walk(src)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), src)
            if not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found += check_text(path, file.read())
    return found


def check_names(rooms):
    """A file is named for what it owns, and the name says which file is meant wherever it stands: a.c and a.h are of one room."""
    places = collections.defaultdict(set)
    for room, files in rooms.items():
        for name in files:
            places[name.rsplit(".", 1)[0]].add(room)
    return [f"{stem}.c or {stem}.h is in {' and in '.join(sorted(where))}: a name is used once"
            for stem, where in sorted(places.items()) if len(where) > 1]


def calls_of(files):
    """files: name -> text. For each file of code, who is called in it: function -> the file it is in. What a header
    does in its inline functions counts for the file of its name."""
    code = {name: re.sub(r'"(?:\\.|[^"\\\n])*"', '""', strip_c(text)) for name, text in files.items()}
    home = {function: name for name, text in code.items() if name.endswith(".c")
            for function in re.findall(r"^(?!static)[a-z][\w \*]*?\b(slp_\w+)\([^;{]*\)\s*\{", text, re.M)}
    calls = {name: {} for name in code if name.endswith(".c")}
    for name, text in code.items():
        if name.endswith(".h"):
            text = "\n".join(re.findall(r"^static inline [^;{]*(\{[^\n]*\}$|\{\n.*?^\})", text, re.M | re.S))
            name = name[:-1] + "c"
        found = {word: home[word] for word in re.findall(r"\bslp_\w+\b", text) if home.get(word, name) != name}
        calls.setdefault(name, {}).update(found)
    return calls


def circles(files):
    """Those files that reach each other through the functions that they call, largest first."""
    calls = {name: set(called.values()) for name, called in calls_of(files).items()}
    reached = {}
    for name in calls:
        seen, todo = set(), [name]
        while todo:
            new = calls[todo.pop()] - seen
            seen |= new
            todo += new
        reached[name] = seen
    found = {frozenset(other for other in reached[name] if name in reached[other]) for name in reached
             if name in reached[name]}
    return sorted((sorted(circle) for circle in found), key=len, reverse=True)


def floors_of(drawing, names):
    """The floors that a header draws: lines of a number, then files and what they do. file -> floor."""
    floors, now = {}, None
    for line in drawing.split("\n"):
        match = re.match(r" \*   (?:(\d)  |   )", line)
        now = None if not match else int(match[1]) if match[1] else now
        for pattern in re.findall(r"[\w*]+\.c\b", line) if now is not None else []:
            for name in names:
                if name.endswith(".c") and fnmatch.fnmatchcase(name, pattern):
                    floors.setdefault(name, set()).add(now)
    return floors


def check_floors(files, drawing):
    floors = floors_of(drawing, files)
    found = [f"{name} stands on {len(floors.get(name, ()))} floors, and belongs on one"
             for name in files if name.endswith(".c") and len(floors.get(name, ())) != 1]
    for name, called in calls_of(files).items():
        for function, other in sorted(called.items()):
            if floors.get(name) and floors.get(other) and max(floors[name]) < max(floors[other]):
                found.append(f"{name} (floor {max(floors[name])}) calls {function} of {other} (floor {max(floors[other])})")
    return found


def declared(text):
    """The names that a header declares, each with whether it is there whole: a struct may be announced only."""
    code = re.sub(r'extern ""\s*\{', "", strip_c(text).replace("\\\n", " "))
    names = dict.fromkeys(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.M), True)
    code = re.sub(r"^\s*#.*$", "", code, flags=re.M)
    for body in re.findall(r"\benum\b\s*\w*\s*\{([^}]*)\}", code):
        names.update(dict.fromkeys(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\([^()]*\)", "", body)), True))
    names.update(dict.fromkeys(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", code), True))
    while "{" in code:
        shorter = re.sub(r"\{[^{}]*\}", " @ ", code)
        if shorter == code:
            break
        code = shorter
    code = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\bSLP_PRINTF\([^)]*\)|\bSLP_UNUSED\b", "", code)
    for line in re.sub(r"\)\s*@", ");", code).split(";"):
        line = " ".join(line.split())
        if re.fullmatch(r"typedef (struct|union) \w+ \w+", line):
            for word in line.split()[-2:]:
                names.setdefault(word, False)
        elif "(" in line:
            match = re.search(r"^typedef [^(]*\( ?\* ?(\w+) ?\)", line) or re.search(r"(\w+) ?\(", line)
            names.update({match[1]: True} if match else {})
        elif line.startswith(("typedef", "extern")):
            names.update(dict.fromkeys(re.findall(r"(\w+)(?: ?\[[^\]]*\])*(?:,|$)", line), True))
    return {name: whole for name, whole in names.items() if re.match(r"(slp|sloop)_", name, re.I) and not name.endswith("_H")}


def used(text):
    code = re.sub(r"^\s*#\s*(include|undef)\b.*$|^typedef (struct|union) \w+ \w+;", "", strip_c(text), flags=re.M)
    code = re.sub(r"\b(struct|union|enum)\s+\w+(?!\w|\s*\{)", "", code)
    return set(re.findall(r"(?<![\w.>])(?:slp|sloop|SLP|SLOOP)_\w+", code))


def included(text):
    return [name for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.M)]


def check_includes(files):
    """files: room/name -> text, with the public headers as they are included. What a file uses it includes itself,
    as far as one header only declares it, and it includes nothing else but its own header and objects to look into."""
    names = {name: declared(text) for name, text in files.items() if name.endswith(".h")}
    homes = collections.defaultdict(list)
    for header, declares in names.items():
        for name in declares:
            homes[name].append(header)
    for word in set().union(*map(used, files.values())):
        if word.startswith("SLOOP_E") and word not in homes:  # made of the list of errors
            homes[word].append("sloop.h")
    found = []
    for name, text in files.items():
        if "/" not in name:
            continue
        has, uses = set(included(text)), used(text)
        own = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)) | set(names.get(name, ())) | set(re.findall(r"^struct (\w+);", text, re.M))
        for word in sorted(uses - own):
            if len(homes.get(word, ())) == 1 and homes[word][0] not in (name, FOR_ALL, *has):
                found.append(f"{name} uses {word} and does not include {homes[word][0]}")
        for header in sorted(has & set(names)):
            objects = any(whole and len(homes[word]) > 1 for word, whole in names[header].items())
            if not (any(header in homes.get(word, ()) for word in uses) or objects or header == name[:-1] + "h" or header == FOR_ALL):
                found.append(f"{name} includes {header} and uses no name of it")
        room = [header for header in has if header.split("/")[0] == name.split("/")[0]]
        if name.endswith(".h") and len(room) > HEADERS_MAX and name.split("/")[1] not in OBJECTS.get(name.split("/")[0], ()):
            found.append(f"{name} includes {len(room)} headers of its room, at most {HEADERS_MAX}")
    return found


def check_sight(files, drawing):
    """No file sees, through all that it includes, a header that declares a function of a higher floor."""
    floors = floors_of(drawing, files)
    home = {function: name for name, text in files.items() if name.endswith(".c")
            for function in re.findall(r"^(?!static)[a-z][\w \*]*?\b(slp_\w+)\([^;{]*\)\s*\{", strip_c(text), re.M)}
    highest = {name: max([(max(floors[home[word]]), word) for word in declared(text) if floors.get(home.get(word))],
                         default=(0, "")) for name, text in files.items() if name.endswith(".h")}
    found = []
    for name in files:
        seen, todo = set(), [name]
        while todo:
            new = {header.split("/")[-1] for header in included(files[todo.pop()])} & set(files) - seen
            seen |= new
            todo += new
        found += [f"{name} (floor {max(floors[name])}) sees {header}, with {highest[header][1]} of floor {highest[header][0]}"
                  for header in sorted(seen) if floors.get(name) and highest[header][0] > max(floors[name])]
    return found


def check_parts(files, objects, others):
    """A part, a struct that lies in an object of these headers, is seen whole by the file of the header that
    declares it, and by those that this header's first comment names in brackets. Options and figures are everybody's.
    What points to an object is known by its declaration in the file, and by its name in other objects."""
    declares = {kind: name for name, text in files.items() if name.endswith(".h")
                for kind in re.findall(r"^\} (slp_\w+);", strip_c(text), re.M)}
    found = []
    for thing, body in re.findall(r"^struct slp_(\w+) \{\n(.*?)^\}", strip_c(objects), re.M | re.S):
        for kind, member in re.findall(r"^  (slp_\w+) (\w+);", body, re.M):
            header = declares.get(kind, "").replace("_part.h", ".h")
            if header[:-1] + "c" not in files or kind.endswith(("_opts", "_stats")):
                continue
            named = re.findall(r"\(((?:\w+\.c(?:, )?)+)\)", files[header].split("*/")[0])
            owners = {header[:-1] + "c", *re.findall(r"\w+\.c", " ".join(named))}
            for name, text in [*files.items(), *others.items()]:
                if name in owners or not name.endswith(".c") or f"{member}." not in text:
                    continue
                text = strip_c(text)
                pointers = "|".join({thing, *re.findall(rf"\bslp_{thing} \*(\w+)", text)})
                looks = re.compile(rf"\b(?:{pointers})->{member}\.\w|slp_{thing}, {member}\.")
                found += [f"{name}:{number} looks into {member}, which is {header}'s"
                          for number, line in enumerate(text.split("\n"), 1) if looks.search(line)]
    return sorted(found)


def tables_of(code):
    """Arrays with rows by name that are sets of bits: (type, name, rows, line)."""
    found = []
    for match in re.finditer(r"^[ \t]*(?:static )?const (\w+) (\w+)\[\w*\] = \{(.*?)\};", code, re.M | re.S):
        if re.search(r"\[\w+\]\s*=[^\[]*(?:\bSLP_BIT\(|\b1u? << )", match[3]):
            rows = re.findall(r"\[(\w+)\]\s*=", match[3])
            found.append((match[1], match[2], rows, code[:match.start(1)].count("\n") + 1))
    return found


def enums_of(code):
    """The names of each enum; the one that only counts the others (NAME_STATES) is none of them."""
    return [[name for name in re.findall(r"\b([A-Z]\w*)\b(?:\s*=[^,]*)?", body) if not name.endswith("_STATES")]
            for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", code, re.S)]


def check_states(files):
    """A life is a table of states with one function that moves (base/states.h). files: path -> text. Finds bits and tables
    made in another way, tables that lack a state, and states that are written past the function."""
    found, paths = [], []
    code = {path: strip_c(text) for path, text in files.items() if path != "base/states.h"}
    shared = [enum for path, text in code.items() if path.endswith(".h") for enum in enums_of(text)]
    for path, text in code.items():
        for match in re.finditer(r"#\s*define\s+(\w*BIT|\w+\([^)]*\)\s*\(*1u? << )", text):
            found.append(f"src/{path}:{text[:match.start()].count(chr(10)) + 1}: the bit of a state or kind is SLP_BIT of base/states.h")
        for kind, name, rows, line in tables_of(text):
            where = f"src/{path}:{line}: {name}"
            moves = re.findall(rf"\bSLP_MOVE\({name}, \w+(?:->|\.)([\w.]+), ", text)
            if kind != "slp_set" or len(moves) != 1:
                found.append(f"{where}: a table of states is of slp_set, and one function moves by it (base/states.h)")
            states = next((enum for enum in [*enums_of(text), *shared] if rows[0] in enum), [])
            if set(rows) != set(states) or len(rows) != len(set(rows)):
                odd = sorted(set(rows) ^ set(states)) or ["a state twice"]
                found.append(f"{where} has not one row for each state: {', '.join(odd)}")
            paths += [(path, member) for member in moves]
        for match in re.finditer(r"SLP_CHECK\([^;\n]*\[[^;\n]*\][^;\n]*(?:SLP_BIT|<<|>>)", text):
            number = text[:match.start()].count("\n") + 1
            found.append(f"src/{path}:{number}: a move is checked by SLP_MOVE of base/states.h")
        for match in re.finditer(r"SLP_CHECK\(\w+\[[^;\n]*\]\[", text):  # a table of states by states
            number = text[:match.start()].count("\n") + 1
            found.append(f"src/{path}:{number}: a move is checked by SLP_MOVE of base/states.h")
    for home, member in paths:  # a member of a member is told from others in all files, another one in its own
        for path, text in code.items() if "." in member else [(home, code[home])]:
            for match in re.finditer(rf"->{re.escape(member)} = ", text):
                number = text[:match.start()].count("\n") + 1
                found.append(f"src/{path}:{number}: {member} is written past the function of its table in {home}")
    return found


def read_tree(src):
    """Every file of code, by its room and name."""
    files = collections.defaultdict(dict)
    for room in RANK:
        for name in sorted(os.listdir(os.path.join(src, room))):
            if name.endswith((".c", ".h")):
                with open(os.path.join(src, room, name), encoding="utf-8") as file:
                    files[room][name] = file.read()
    return files


def check_calls(rooms, room, drawing):
    files = rooms[room]
    others = {f"{other}/{name}": text for other in rooms if other != room for name, text in rooms[other].items()}
    found = [f"{room}/{finding}" for finding in check_floors(files, files[drawing])]
    if room in OBJECTS:
        found += [f"{room}/{finding}" for finding in check_sight(files, files[drawing])]
        found += [f"in {room}/ or above it, {finding}"
                  for finding in check_parts(files, "".join(files[name] for name in OBJECTS[room]), others)]
    return found


def undefined_symbols(archive):
    out = subprocess.run(["nm", "-u", archive], capture_output=True, text=True, check=True).stdout
    member, pairs = archive, []
    for line in out.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.strip().startswith("U "):
            pairs.append((member, line.split()[-1].split("@")[0]))
    return pairs


def check_objects(build):
    found = []
    for room in WORLD_FREE_ROOMS:
        archive = os.path.join(build, "src", f"libslp_{room}.a")
        if not os.path.exists(archive):
            found.append(f"{archive} is not built")
            continue
        for member, symbol in undefined_symbols(archive):
            if WORLD_SYMBOLS.match(symbol):
                found.append(f"{room}/{member} refers to {symbol}: core, aws and source see the world only by host/")
    return found


def check_tests(build):
    """Meson names every file of a program: one that it does not name would be a test that never runs."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as text:
        compiled = {os.path.realpath(os.path.join(c["directory"], c["file"])) for c in json.load(text)}
    named = compiled
    if os.path.realpath(os.path.join(ROOT, "src", "store", "sqlite_file.c")) not in compiled:  # built without SQLite
        named = compiled | {os.path.realpath(os.path.join(ROOT, "test", "unit", "store", "sqlite.c"))}
    return [f"{os.path.relpath(os.path.join(folder, name), ROOT)} is in no program"
            for program in ("unit", "story") for folder, _, names in sorted(os.walk(os.path.join(ROOT, "test", program)))
            for name in sorted(names)
            if name.endswith(".c") and os.path.realpath(os.path.join(folder, name)) not in named]


SELF_TEST = [  # path, line, must it be found?
    ("core/a.c", '#include "aws/ops.h"', True),
    ("core/a.c", '#include "source/x.h"', True),
    ("core/a.c", '#include "host/host.h"', False),
    ("sandbox/a.c", '#include "core/merge.h"', True),
    ("sandbox/a.c", '#include "aws/sigv4.h"', True),
    ("api/a.c", '#include "sandbox/sandbox.h"', True),
    ("cli/a.c", '#include "sandbox/sandbox.h"', False),
    ("core/a.c", "#include <uv.h>", True),
    ("host/a.c", "#include <uv.h>", False),
    ("cli/a.c", "#include <uv.h>", True),
    ("codec/digest.c", "#include <openssl/evp.h>", False),
    ("codec/es256.c", "#include <openssl/evp.h>", False),
    ("codec/base64.c", "#include <openssl/evp.h>", True),
    ("codec/json.c", "#include <openssl/evp.h>", True),
    ("core/a.c", "x = time(NULL);", True),
    ("core/a.c", "x = at->time(3);", False),
    ("core/a.c", "/* time(NULL) */ s = \"rand()\";", False),
    ("core/a.c", "p = malloc(3);", True),
    ("base/mem.c", "p = malloc(3);", False),
    ("api/a.c", 'printf("x");', True),
    ("api/a.c", 'snprintf(b, sizeof b, "x");', False),
    ("cli/a.c", 'printf("x");', False),
    ("core/a.c", "slp_drop_free(x);", False),
    ("core/a.c", "x" * 111, True),
    ("core/a.c", '#include "merge.h"', True),
    ("hull/a.c", "int x;", True),
]


def self_test():
    wrong = [case for case in SELF_TEST if bool(check_text(case[0], case[1])) != case[2]]
    for path, line, must in wrong:
        print(f"FAIL self-test: {path}: {line!r}: must{'' if must else ' not'} be found")
    down = {"a.c": "void slp_a(void) { slp_b(); }", "b.c": "void slp_b(void) { slp_c(); }\n", "c.c": "int slp_c(void) {\n}"}
    if circles(down) or circles({**down, "c.c": "int slp_c(int x) { slp_a(); }"}) != [["a.c", "b.c", "c.c"]]:
        wrong.append("circles")
        print("FAIL self-test: circles")
    drawing = ("/* all.h\n *\n *   1  a.c  above\n *   0  b.c, c*.c\n *      below\n *\n * d.c */\n"
               "struct slp_all {\n  slp_b one;\n  slp_kept two;\n  int c;\n};\n")
    parts = {"all.h": drawing, "b.h": "/* b.h - ours (c.c) */\ntypedef struct slp_b {\n  int x;\n} slp_b;\n",
             "kept.h": "typedef struct slp_kept {\n  int x;\n} slp_kept;\n"}
    up = {**down, "c.c": "int slp_c(void) { slp_a(); }\n"}
    fine = {**down, **parts, "c.c": "int slp_c(slp_all *a) { a->one.x = a->two.x; }\n"}
    into = {**down, **parts, "a.c": "void slp_a(slp_all *x, slp_b *y) { x->one.x = x->two.x + y->one.x; }\n"}
    apart = {**into, "b.h": "/* b.h - ours (c.c) */\nvoid slp_b(void);\n", "b_part.h": parts["b.h"]}
    words = {"a/a.h": "typedef struct slp_a slp_a;\ntypedef enum { SLP_ON = 1, SLP_OFF } slp_on;\n#define SLP_SIZE 3\n"
                      "int slp_do(slp_a *a) __attribute__((const));\ntypedef int (*slp_fn)(int x);\nextern const int slp_list[2];\n",
             "a/a_inside.h": "struct slp_a {\n  int x;\n};\nstatic inline int slp_get(slp_a *a) { return slp_do(a); }\n"}
    sight = {"a.c": '#include "r/a.h"\nvoid slp_a(void) { slp_b(); }', "b.c": '#include "r/b.h"\nvoid slp_b(void) {\n}',
             "a.h": '#include "r/b.h"\nvoid slp_a(void);', "b.h": "void slp_b(void);"}
    inline = {**down, "c.h": "void slp_a(void);\nstatic inline void slp_d(void) { slp_a(); }\n"}
    life = {"a/x.h": "typedef enum x_state { X_ONE, /* X_NOT */ X_TWO, X_STATES } x_state;\n",
            "a/x.c": "static const slp_set allowed[] = {\n    [X_ONE] = SLP_BIT(X_TWO),\n    [X_TWO] = 0,\n};\n"
                     "static void move(x *d, x_state to) { SLP_MOVE(allowed, d->life.state, to); }\n"}
    other = {"a/x.h": life["a/x.h"], "a/x.c": "static const unsigned ok[] = {[X_ONE] = 1u << X_TWO, [X_TWO] = 0};\n"
             "void f(x *d) { SLP_CHECK(ok[d->state] & 1u << X_TWO); }\n"}
    table = "a table of states is of slp_set, and one function moves by it (base/states.h)"
    bit = "the bit of a state or kind is SLP_BIT of base/states.h"
    for what, got, wanted in [
            ("a life", check_states(life), []),
            ("the one place of bits", check_states({"base/states.h": "#define SLP_BIT(value) ((slp_set)1 << (value))\n"}), []),
            ("no table of states", check_states({"a/x.c": "static const char *const names[] = {[X_ONE] = \"a\"};\n"
                                                 "static const slp_set kinds = SLP_BIT(X_ONE);\n"}), []),
            ("a bit of its own", check_states({"a/x.c": "#define BIT(state) (1u << (state))\n#define TO(s) (1 << X_##s)\n"}),
             [f"src/a/x.c:1: {bit}", f"src/a/x.c:2: {bit}"]),
            ("a table of its own", check_states(other), [f"src/a/x.c:1: ok: {table}",
                                                         "src/a/x.c:2: a move is checked by SLP_MOVE of base/states.h"]),
            ("a table of states by states", check_states({"a/x.c": "void f(x *d, int to) {\n  SLP_CHECK(allowed[d->state][to]);\n}\n"}),
             ["src/a/x.c:2: a move is checked by SLP_MOVE of base/states.h"]),
            ("a table that nothing moves by", check_states({**life, "a/x.c": life["a/x.c"].split("static void")[0]}),
             [f"src/a/x.c:1: allowed: {table}"]),
            ("a state without a row", check_states({**life, "a/x.c": life["a/x.c"].replace("    [X_TWO] = 0,\n", "")}),
             ["src/a/x.c:1: allowed has not one row for each state: X_TWO"]),
            ("a state written elsewhere", check_states({**life, "b/y.c": "void f(x *d) { d->life.state = X_TWO; }\n"}),
             ["src/b/y.c:1: life.state is written past the function of its table in a/x.c"]),
            ("floors", floors_of(drawing, ["a.c", "b.c", "c.c", "d.c"]), {"a.c": {1}, "b.c": {0}, "c.c": {0}}),
            ("downwards", check_floors(down, drawing), []),
            ("upwards", check_floors(up, drawing), ["c.c (floor 0) calls slp_a of a.c (floor 1)"]),
            ("inline", check_floors(inline, drawing), ["c.c (floor 0) calls slp_a of a.c (floor 1)"]),
            ("on no floor", check_floors({**down, "d.c": ""}, drawing), ["d.c stands on 0 floors, and belongs on one"]),
            ("one name each", check_names({"a": {"x.c": "", "x.h": ""}, "b": {"y.c": ""}}), []),
            ("a name twice", check_names({"a": {"x.c": ""}, "b": {"x.h": ""}}), ["x.c or x.h is in a and in b: a name is used once"]),
            ("own parts", check_parts(fine, drawing, {}), []),
            ("a part seen from another room", check_parts({**down, **parts}, drawing, {"up/c.c": "f(slp_all *a) { a->one.x = 1; }"}),
             ["up/c.c:1 looks into one, which is b.h's"]),
            ("another's part", check_parts(into, drawing, {}), ["a.c:1 looks into one, which is b.h's"]),
            ("a part without functions", check_parts(apart, drawing, {}), ["a.c:1 looks into one, which is b.h's"]),
            ("names", sorted(declared(words["a/a.h"]).items()),
             [("SLP_OFF", True), ("SLP_ON", True), ("SLP_SIZE", True), ("slp_a", False), ("slp_do", True), ("slp_fn", True),
              ("slp_list", True), ("slp_on", True)]),
            ("includes", check_includes({**words, "a/c.c": '#include "a/a.h"\n#include "a/a_inside.h"\nint x = SLP_ON; // slp_get\n',
                                         "a/a_inside.h": '#include "a/a.h"\n' + words["a/a_inside.h"]}), []),
            ("a header that is missing", check_includes({**words, "a/c.c": "int x = SLP_ON;\n"})[1:],
             ["a/c.c uses SLP_ON and does not include a/a.h"]),
            ("a header for nothing", check_includes({**words, "a/a_inside.h": "", "a/c.c": '#include "a/a.h"\n'}),
             ["a/c.c includes a/a.h and uses no name of it"]),
            ("too many headers", check_includes({f"a/{i}.h": f"int slp_{i}(void);" for i in range(10)} | {
                "a/x.h": "".join(f'#include "a/{i}.h"\n' for i in range(10)) + " ".join(f"slp_{i}" for i in range(10))}),
             ["a/x.h includes 10 headers of its room, at most 9"]),
            ("sees its own floor and lower ones", check_sight(sight, drawing), []),
            ("sees a higher floor", check_sight({**sight, "b.h": '#include "r/a.h"\nvoid slp_b(void);'}, drawing),
             ["b.c (floor 0) sees a.h, with slp_a of floor 1"])]:
        if got != wanted:
            wrong.append(what)
            print(f"FAIL self-test: {what}: {got}")
    return wrong


def report(name, findings):
    for finding in findings:
        print(f"  {finding}")
    print(f"{'FAIL' if findings else 'ok  '} {name}")
    return bool(findings)


def main():
    bad = report("the checker finds what it must and nothing else", self_test())
    bad |= report("rooms, world and banned functions", check_tree(os.path.join(ROOT, "src")))
    rooms = read_tree(os.path.join(ROOT, "src"))
    texts = {f"{room}/{name}": text for room, files in rooms.items() for name, text in files.items()}
    bad |= report("every table of states is one of base/states.h", check_states(texts))
    bad |= report("no two rooms have a file of the same name", check_names(rooms))
    bad |= report("no files of a room call each other in a circle",
                  [f"{room}/: {', '.join(circle)}" for room, files in rooms.items() for circle in circles(files)])
    for name in PUBLIC_HEADERS:
        with open(os.path.join(ROOT, "include", name), encoding="utf-8") as file:
            texts[name] = file.read()
    bad |= report("a file includes the headers whose names it uses, and no others", check_includes(texts))
    for room, drawing in DRAWINGS.items():
        own = ", see no higher floor, and look into their own parts only" if room in OBJECTS else ""
        bad |= report(f"files of {room}/ call downwards, as {drawing} draws it{own}",
                      check_calls(rooms, room, drawing))
    if "--objects" in sys.argv:
        build = sys.argv[sys.argv.index("--objects") + 1]
        bad |= report("objects of core, aws and source know no world", check_objects(build))
        bad |= report("every file of unit tests and stories is in a program", check_tests(build))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
