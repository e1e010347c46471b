"""The sandbox's tables beside another server's: thousands of random requests go to both, and both must say the same.

What the other server is known to do otherwise than DynamoDB is listed in DEVIATIONS, each with its reason and a test
that recognises it in the request; a difference that none of them explains fails. After one that is explained the other
server gets the sandbox's item, so that the two go on from the same state.
"""

import decimal
import random

import harness
import sandbox_box
import servers
from harness import expect

PATHS = ["n", "s", "l", "m", "ns", "ss", "m.x", "m.y", "m.x.z", "l[0]", "l[1]", "l[3]", "l[0].k", "gone", "gone.deep",
         "m.gone", "bin", "flag"]
KEYS = [("p%d" % p, n) for p in range(3) for n in (-1, 0, 2, 10, 2.5)]


def key_of(key):
    return {"pk": {"S": key[0]}, "sk": {"N": str(key[1])}}


# ---- random requests -----------------------------------------------------------------------------------------------


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.values, self.names = {}, {}

    def fresh(self):
        self.values, self.names = {}, {}

    def number(self):
        r = self.rng
        return r.choice(["0", "1", "2", "-3", "10", "2.5", "1e2", "007", "1.50", str(r.randint(-5, 5)),
                         "12345678901234567890123456789012345678"])

    def text(self):
        return self.rng.choice(["", "a", "ab", "abc", "b", "ü", "x" * 20, "10"])

    def value(self, depth=0):
        r = self.rng
        kind = r.choice(["S", "S", "N", "N", "N", "BOOL", "NULL", "B", "SS", "NS", "L", "M"][:12 if depth < 3 else 10])
        if kind == "S":
            return {"S": self.text()}
        if kind == "N":
            return {"N": self.number()}
        if kind == "BOOL":
            return {"BOOL": r.random() < 0.5}
        if kind == "NULL":
            return {"NULL": True}
        if kind == "B":
            return {"B": bytes([r.randrange(256) for _ in range(r.randrange(1, 4))])}
        if kind == "SS":
            return {"SS": r.sample(["a", "b", "c", "ab"], r.randint(1, 3))}
        if kind == "NS":
            return {"NS": r.sample(["1", "2", "3", "2.5"], r.randint(1, 3))}
        if kind == "L":
            return {"L": [self.value(depth + 1) for _ in range(r.randrange(4))]}
        return {"M": {name: self.value(depth + 1) for name in r.sample(["x", "y", "z", "k"], r.randrange(4))}}

    def item(self, key):
        r = self.rng
        item = key_of(key)
        fixed = {"n": {"N": self.number()}, "s": {"S": self.text()}, "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2"]},
                 "l": {"L": [self.value(1) for _ in range(r.randrange(5))]},
                 "m": {"M": {"x": self.value(1), "y": self.value(2)}}, "flag": {"BOOL": True}, "bin": {"B": b"ab"}}
        for name in r.sample(sorted(fixed), r.randrange(len(fixed) + 1)):
            item[name] = fixed[name] if r.random() < 0.8 else self.value()
        return item

    def v(self, value):
        name = f":v{len(self.values)}"
        self.values[name] = value
        return name

    def path(self, choices=None):
        path = self.rng.choice(choices or PATHS)
        parts = []
        for part in path.split("."):
            bare, bracket, rest = part.partition("[")
            name = f"#{bare}"
            self.names[name] = bare
            parts.append(name + bracket + rest)
        return ".".join(parts)

    def operand(self):
        choice = self.rng.random()
        if choice < 0.45:
            return self.path()
        if choice < 0.55:
            return f"size({self.path()})"
        return self.v(self.value(2))

    def condition(self, depth=0):
        r = self.rng
        choice = r.random()
        if depth < 3 and choice < 0.35:
            a, b = self.condition(depth + 1), self.condition(depth + 1)
            return r.choice([f"({a}) AND {b}", f"{a} OR ({b})", f"{a} AND {b}", f"{a} OR {b}", f"({a} OR {b}) AND NOT ({a})"])
        if depth < 3 and choice < 0.45:
            return f"NOT ({self.condition(depth + 1)})"
        kind = r.randrange(9)
        if kind == 0:
            return f"attribute_exists({self.path()})"
        if kind == 1:
            return f"attribute_not_exists({self.path()})"
        if kind == 2:
            return f"attribute_type({self.path()}, {self.v({'S': r.choice(['S', 'N', 'L', 'M', 'SS', 'NS', 'B'])})})"
        if kind == 3:
            return f"begins_with({self.path()}, {self.v({'S': self.text()})})"
        if kind == 4:
            return f"contains({self.path()}, {self.v(r.choice([{'S': self.text()}, {'N': self.number()}]))})"
        if kind == 5:
            low, high = sorted(r.sample(range(-5, 12), 2))
            return f"{self.path()} BETWEEN {self.v({'N': str(low)})} AND {self.v({'N': str(high)})}"
        if kind == 6:
            return f"{self.path()} IN ({self.v(self.value(2))}, {self.v(self.value(2))})"
        if kind == 7:
            sign = r.choice(["<", "<=", ">", ">="])
            return f"{self.path()} {sign} {self.v(r.choice([{'N': self.number()}, {'S': self.text()}]))}"
        return f"{self.path()} {r.choice(['=', '<>'])} {self.v(self.value(2))}"

    def update(self):
        """Every path at most once, and no two of one attribute: overlaps have tests of their own."""
        r = self.rng
        tops = ["n", "s", "l", "m", "ns", "ss", "fresh", "flag"]
        chosen = r.sample(tops, r.randint(1, 3))
        sections = {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}
        for top in chosen:
            under = [p for p in PATHS if p.split(".")[0].split("[")[0] == top] or [top]
            path = self.path(under)
            kind = r.randrange(9)
            if kind <= 1:
                sections["SET"].append(f"{path} = {self.v(self.value(1))}")
            elif kind == 2:
                sections["SET"].append(f"{path} = {self.path(['n'])} {r.choice('+-')} {self.v({'N': self.number()})}")
            elif kind == 3:
                sections["SET"].append(f"{path} = if_not_exists({self.path()}, {self.v(self.value(1))})")
            elif kind == 4:
                sections["SET"].append(f"{path} = list_append({self.path(['l'])}, {self.v({'L': [self.value(2)]})})")
            elif kind == 5:
                sections["REMOVE"].append(path)
            elif kind == 6:
                top_only = self.path([top])
                sections["ADD"].append(f"{top_only} {self.v(r.choice([{'N': self.number()}, {'SS': ['q', 'a']}]))}")
            elif kind == 7:
                top_only = self.path([top])
                sections["DELETE"].append(f"{top_only} {self.v(r.choice([{'SS': ['a', 'b']}, {'NS': ['1']}]))}")
            else:
                sections["SET"].append(f"{path} = {self.path()}")
        for name in [n for n in self.names if not any(n in part for s in sections.values() for part in s)]:
            del self.names[name]
        return " ".join(f"{word} {', '.join(parts)}" for word, parts in sections.items() if parts)

    def words(self, request):
        if self.names:
            request["ExpressionAttributeNames"] = dict(self.names)
        if self.values:
            request["ExpressionAttributeValues"] = dict(self.values)
        return request

    def request(self):
        """(operation, arguments)"""
        r = self.rng
        self.fresh()
        key = r.choice(KEYS)
        choice = r.random()
        if choice < 0.25:
            request = {"Item": self.item(key), "ReturnValues": r.choice(["NONE", "ALL_OLD"])}
            if r.random() < 0.5:
                request["ConditionExpression"] = self.condition()
                request["ReturnValuesOnConditionCheckFailure"] = r.choice(["NONE", "ALL_OLD"])
            return "put_item", self.words(request)
        if choice < 0.6:
            request = {"Key": key_of(key), "UpdateExpression": self.update(),
                       "ReturnValues": r.choice(["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_NEW", "UPDATED_OLD"])}
            if r.random() < 0.3:
                request["ConditionExpression"] = self.condition()
            return "update_item", self.words(request)
        if choice < 0.7:
            request = {"Key": key_of(key), "ReturnValues": r.choice(["NONE", "ALL_OLD"])}
            if r.random() < 0.6:
                request["ConditionExpression"] = self.condition()
            return "delete_item", self.words(request)
        if choice < 0.8:
            request = {"Key": key_of(key), "ConsistentRead": True}
            if r.random() < 0.6:
                tops = r.sample(["n", "s", "l[0]", "m.x", "ss", "gone", "flag"], r.randint(1, 4))
                request["ProjectionExpression"] = ", ".join(self.path([p]) for p in tops)
            return "get_item", self.words(request)
        if choice < 0.9:
            words = r.choice(["pk = :p", "pk = :p AND sk = :a", "pk = :p AND sk < :a", "pk = :p AND sk >= :a",
                              "pk = :p AND sk BETWEEN :a AND :b"])
            low, high = sorted([r.randint(-2, 11), r.randint(-2, 11)])
            request = {"KeyConditionExpression": words, "ScanIndexForward": r.random() < 0.5}
            if r.random() < 0.6:
                request["FilterExpression"] = self.condition()
            self.values[":p"] = {"S": key[0]}
            if ":a" in words:
                self.values[":a"] = {"N": str(low)}
            if ":b" in words:
                self.values[":b"] = {"N": str(high)}
            return "query", self.words(request)
        request = {"FilterExpression": self.condition()}
        return "scan", self.words(request)


# ---- comparing -------------------------------------------------------------------------------------------------------


def plain(value):
    """A value in a form that compares as DynamoDB's values do."""
    (kind, inner), = value.items()
    if kind == "N":
        return kind, decimal.Decimal(inner)
    if kind in ("SS", "BS"):
        return kind, frozenset(inner)
    if kind == "NS":
        return kind, frozenset(map(decimal.Decimal, inner))
    if kind == "L":
        return kind, tuple(plain(v) for v in inner)
    if kind == "M":
        return kind, plain_item(inner)
    return kind, inner


def plain_item(item):
    return frozenset((name, plain(value)) for name, value in item.items())


def outcome(client, operation, arguments):
    """("ok", what came) or (error code, the item it carries)."""
    try:
        answer = getattr(client, operation)(TableName="tab", **arguments)
    except client.exceptions.ClientError as error:
        item = error.response.get("Item")
        return error.response["Error"]["Code"], plain_item(item) if item else None
    if operation in ("query", "scan"):
        items = [plain_item(item) for item in answer["Items"]]
        expect(answer["Count"] == len(items), answer)
        return "ok", (answer["ScannedCount"], items if operation == "query" else frozenset(items))
    item = answer.get("Attributes", answer.get("Item"))
    return "ok", plain_item(item) if item else None


def contents(client):
    items = []
    for page in client.get_paginator("scan").paginate(TableName="tab", ConsistentRead=True):
        items += page["Items"]
    return {(item["pk"]["S"], decimal.Decimal(item["sk"]["N"])): item for item in items}


def make_table(client):
    client.create_table(TableName="tab", BillingMode="PAY_PER_REQUEST",
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                                              {"AttributeName": "sk", "AttributeType": "N"}],
                        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"},
                                   {"AttributeName": "sk", "KeyType": "RANGE"}])
    client.get_waiter("table_exists").wait(TableName="tab", WaiterConfig={"Delay": 1})


def copy_contents(ours, other):
    """The other server gets what the sandbox holds."""
    mine, theirs = contents(ours), contents(other)
    for key in theirs.keys() - mine.keys():
        other.delete_item(TableName="tab", Key={name: theirs[key][name] for name in ("pk", "sk")})
    for key, item in mine.items():
        if key not in theirs or plain_item(theirs[key]) != plain_item(item):
            other.put_item(TableName="tab", Item=item)


# ---- what the others do otherwise ---------------------------------------------------------------------------------------


def said(arguments, *names):
    return " ".join(str(arguments.get(name, "")) for name in names)


def conditions(arguments):
    return said(arguments, "ConditionExpression", "FilterExpression")


def loose_values(arguments):
    """Values that moto compares as Python does: 1 == True, None for what is not there, empty for false."""
    values = arguments.get("ExpressionAttributeValues", {}).values()
    return any(kind in ("NULL", "BOOL", "L", "M", "SS", "NS") or inner in ("", "0", "1") for v in values
               for kind, inner in v.items())


def takes_from_itself(arguments):
    """SET of one path to (a part of) another: dynalite then holds one value in two places."""
    parts = said(arguments, "UpdateExpression")
    return any("= #" in part or "list_append" in part or "if_not_exists" in part for part in parts.split(","))


DEVIATIONS = {
    "dynalite": [
        ("ignores ReturnValuesOnConditionCheckFailure",
         lambda op, args, ours, theirs: ours[0] == theirs[0] == "ConditionalCheckFailedException" and not theirs[1]
         and args.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"),
        ("computes beyond 38 digits",
         lambda op, args, ours, theirs: op == "update_item" and ours[0] == "ValidationException" and theirs[0] == "ok"
         and "12345678901234567890123456789012345678" in str(args) + str(theirs)),
        ("IN finds neither false nor empty values", lambda op, args, ours, theirs: " IN (" in conditions(args)
         and any(v in ({"BOOL": False}, {"M": {}}, {"L": []}, {"S": ""}) for v in
                 args.get("ExpressionAttributeValues", {}).values())),
    ],
    "moto": [
        ("500 where operands differ in type", lambda op, args, ours, theirs: theirs[0] == "500"),
        ("keeps an item that it can not give any more", lambda op, args, ours, theirs: theirs[-1] == "500"),
        ("calls a projection's name unused when the item lacks it",
         lambda op, args, ours, theirs: op == "get_item" and theirs[0] == "ValidationException"),
        ("UPDATED_OLD and UPDATED_NEW show keys and whole attributes",
         lambda op, args, ours, theirs: str(args.get("ReturnValues")).startswith("UPDATED") and ours[0] == theirs[0]
         == "ok" and ours[2:] == theirs[2:]),
        ("does nothing where the path leads through what is not there",
         lambda op, args, ours, theirs: op == "update_item" and ours[0] == "ValidationException" and theirs[0] == "ok"),
        ("a refused update leaves a part of itself behind",
         lambda op, args, ours, theirs: op == "update_item" and ours[0] == theirs[0] == "ValidationException"),
        ("an update's operand must be where if_not_exists looks",
         lambda op, args, ours, theirs: theirs[0] == "ValidationException" and "if_not_exists" in str(args)),
        ("compares values of different types", lambda op, args, ours, theirs: loose_values(args)),
        ("compares what is not there", lambda op, args, ours, theirs: any(
            word in conditions(args) for word in ("BETWEEN", "IN (", "<", ">", "size", "NOT"))),
    ],
}


def explained(server, operation, arguments, ours, theirs):
    for why, holds in DEVIATIONS[server.name]:
        if holds(operation, arguments, ours, theirs):
            return why
    return None


def item_after(client, arguments):
    try:
        item = client.get_item(TableName="tab", Key=arguments["Key"], ConsistentRead=True).get("Item")
    except client.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    return plain_item(item) if item else None


def both(server, mine, other, operation, arguments):
    """Compares what each server says and, after a write, what each holds."""
    results = []
    for client in (mine, other):
        result = outcome(client, operation, arguments)
        if operation in ("put_item", "update_item", "delete_item"):
            key = arguments.get("Key") or {name: arguments["Item"][name] for name in ("pk", "sk")}
            result += (item_after(client, {"Key": key}),)
        results.append(result)
    return results


def both_agree(server, seed, requests):
    maker, counts, codes = Maker(seed), {}, {}
    with sandbox_box.Box("change_ms=0") as box:
        mine, other = box.client(service="dynamodb"), harness.client(server.url, "dynamodb")
        make_table(mine)
        make_table(other)
        for number in range(requests):
            operation, arguments = maker.request()
            while server.name == "dynalite" and operation == "update_item" and takes_from_itself(arguments):
                operation, arguments = maker.request()
            ours, theirs = both(server, mine, other, operation, arguments)
            codes[ours[0]] = codes.get(ours[0], 0) + 1
            if ours == theirs:
                continue
            why = explained(server, operation, arguments, ours, theirs)
            expect(why, f"request {number} of seed {seed}: {operation} {arguments}\nours {ours}\ntheirs {theirs}")
            counts[why] = counts.get(why, 0) + 1
            if theirs[-1] == "500":
                other.delete_table(TableName="tab")
                make_table(other)
            copy_contents(mine, other)
    expect(codes["ok"] > requests / 3 and codes.get("ConditionalCheckFailedException", 0) > requests / 20, codes)
    other_ways = sum(n for why, n in counts.items() if "ReturnValuesOn" not in why)
    expect(other_ways < requests / (100 if server.name == "dynalite" else 6), counts)
    return f"{requests} requests: {codes}; the other server: {counts or 'the same'}"


def main():
    tests = harness.Tests()
    many = 4000 if harness.FULL else 250
    tests.side_by_side([lambda kind=kind: tests.with_server(kind, lambda tests, server: tests.run(
        f"random requests beside {server.name}", both_agree, server, 1, many)) for kind in (servers.Dynalite, servers.Moto)])
    tests.end()


if __name__ == "__main__":
    main()
