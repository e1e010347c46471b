"""The sandbox's DynamoDB as boto3 sees it: every operation and every kind of answer once, by the service's rules."""

import decimal
import json
import zlib

import harness
from harness import expect, wait_until
from sandbox_box import Box, refused


def box_and_client(*knobs):
    return Box("change_ms=0", *knobs)


def table(client, name="tab", sort=True, **more):
    definitions = [{"AttributeName": "pk", "AttributeType": "S"}]
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}]
    if sort:
        definitions.append({"AttributeName": "sk", "AttributeType": "N"})
        keys.append({"AttributeName": "sk", "KeyType": "RANGE"})
    more = {"BillingMode": "PAY_PER_REQUEST", **more}
    definitions += more.pop("Definitions", [])
    return client.create_table(TableName=name, AttributeDefinitions=definitions, KeySchema=keys,
                               **{k: v for k, v in more.items() if v is not None})["TableDescription"]


# How long a change of a table takes where a test asks what is refused meanwhile: only its own clock, which the test moves, ends it.
CHANGE_MS = 60000


def item(pk, sk=None, **more):
    return {"pk": {"S": pk}, **({} if sk is None else {"sk": {"N": str(sk)}}), **more}


GLOBAL = {"Definitions": [{"AttributeName": "g", "AttributeType": "S"}, {"AttributeName": "h", "AttributeType": "N"}],
          "GlobalSecondaryIndexes": [
              {"IndexName": "all", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"},
                                                 {"AttributeName": "h", "KeyType": "RANGE"}],
               "Projection": {"ProjectionType": "ALL"}},
              {"IndexName": "few", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
               "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}}],
          "LocalSecondaryIndexes": [
              {"IndexName": "local", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                                                   {"AttributeName": "h", "KeyType": "RANGE"}],
               "Projection": {"ProjectionType": "KEYS_ONLY"}}]}


def life_of_a_table():
    with Box(f"change_ms={CHANGE_MS}") as box:
        client = box.client(service="dynamodb")
        made = table(client, **GLOBAL, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        expect(made["TableStatus"] == "CREATING" and made["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST", made)
        refused("ResourceNotFoundException", client.put_item, TableName="tab", Item=item("a", 1))
        refused("ResourceInUseException", table, client=client)
        refused("ResourceInUseException", client.delete_table, TableName="tab")
        box.move_clock(CHANGE_MS)
        client.get_waiter("table_exists").wait(TableName="tab", WaiterConfig={"Delay": 1})
        told = client.describe_table(TableName="tab")["Table"]
        expect(told["TableStatus"] == "ACTIVE" and told["ItemCount"] == 0 and told["TableArn"].endswith("table/tab"), told)
        expect({i["IndexName"] for i in told["GlobalSecondaryIndexes"]} == {"all", "few"}, told)
        expect(told["LocalSecondaryIndexes"][0]["Projection"] == {"ProjectionType": "KEYS_ONLY"}, told)
        expect(told["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}, told)
        expect(told["LatestStreamLabel"] in told["LatestStreamArn"], told)
        client.put_item(TableName=told["TableArn"], Item=item("by arn", 1))
        changed = client.update_table(TableName="tab", StreamSpecification={"StreamEnabled": False})["TableDescription"]
        expect(changed["TableStatus"] == "UPDATING", changed)
        client.put_item(TableName="tab", Item=item("while it is changed", 1))
        refused("ResourceInUseException", client.update_table, TableName="tab", BillingMode="PAY_PER_REQUEST")
        box.move_clock(CHANGE_MS)
        expect("StreamSpecification" not in client.describe_table(TableName="tab")["Table"], "the stream is off")
        client.update_table(TableName="tab", AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
                            GlobalSecondaryIndexUpdates=[{"Create": {
                                "IndexName": "late", "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                                "Projection": {"ProjectionType": "ALL"}}}])
        statuses = {i["IndexName"]: i["IndexStatus"] for i in
                    client.describe_table(TableName="tab")["Table"]["GlobalSecondaryIndexes"]}
        expect(statuses == {"all": "ACTIVE", "few": "ACTIVE", "late": "CREATING"}, statuses)
        box.move_clock(CHANGE_MS)
        client.update_table(TableName="tab", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "few"}}])
        box.move_clock(CHANGE_MS)
        left = {i["IndexName"] for i in client.describe_table(TableName="tab")["Table"]["GlobalSecondaryIndexes"]}
        expect(left == {"all", "late"}, left)
        client.update_table(TableName="tab", DeletionProtectionEnabled=True)
        box.move_clock(CHANGE_MS)
        refused("ValidationException", client.delete_table, TableName="tab")
        client.update_table(TableName="tab", DeletionProtectionEnabled=False)
        box.move_clock(CHANGE_MS)
        expect(client.delete_table(TableName="tab")["TableDescription"]["TableStatus"] == "DELETING", "DELETING")
        box.move_clock(CHANGE_MS)
        refused("ResourceNotFoundException", client.describe_table, TableName="tab")
        table(client)
        box.move_clock(CHANGE_MS)
        expect(client.scan(TableName="tab")["Count"] == 0, "a new table is empty")


def names_of_tables_in_pages():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        names = sorted(f"table-{n}" for n in range(12))
        for name in reversed(names):
            table(client, name)
        seen = [n for page in client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 5})
                for n in page["TableNames"]]
        expect(seen == names, seen)


def definitions_are_checked():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        refused("ValidationException", table, client=client, name="x" * 256)
        refused("ValidationException", table, client=client, name="no space")
        refused("ValidationException", table, client=client, Definitions=[{"AttributeName": "z", "AttributeType": "S"}])
        refused("ValidationException", table, client=client, BillingMode=None)
        throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        refused("ValidationException", table, client=client, ProvisionedThroughput=throughput)
        refused("ValidationException", client.create_table, TableName="tab", BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "other", "KeyType": "HASH"}])
        refused("ValidationException", client.create_table, TableName="tab", BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "pk", "KeyType": "RANGE"}])
        refused("ValidationException", table, client=client, sort=False, **GLOBAL)  # a local index needs a sort key
        told = table(client, BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4})
        expect(told["ProvisionedThroughput"]["WriteCapacityUnits"] == 4 and "BillingModeSummary" not in told, told)


def bytes_of_answers():
    """Checksum, content type and error forms, read without an SDK."""
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client)

        def post(operation, body, kind="application/x-amz-json-1.0"):
            status, headers, answer = box.request("POST", "/", body, {
                "Content-Type": kind, "X-Amz-Target": "DynamoDB_20120810." + operation})
            expect(headers["x-amz-crc32"] == str(zlib.crc32(answer)), (headers, answer))
            expect(headers["Content-Type"] == "application/x-amz-json-1.0", headers)
            return status, json.loads(answer)

        expect(post("ListTables", b"{}") == (200, {"TableNames": ["tab"]}), "names")
        for operation, body, name in [
                ("GetItem", b"{", "com.amazon.coral.service#SerializationException"),
                ("GetItem", b'{"TableName":["tab"]}', "com.amazon.coral.service#SerializationException"),
                ("GetItem", b'{"TableName":"tab"}', "com.amazon.coral.validate#ValidationException"),
                ("GetItem", b'{"TableName":"tab","Key":{"pk":"x","sk":{"N":"1"}}}',
                 "com.amazon.coral.service#SerializationException"),
                ("GetItem", b'{"TableName":"none","Key":{"pk":{"S":"x"}}}',
                 "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"),
                ("NoSuchThing", b"{}", "com.amazon.coral.service#UnknownOperationException"),
                ("PutRecord", b"{}", "com.amazon.coral.service#UnknownOperationException")]:
            status, answer = post(operation, body)
            expect(status == 400 and answer["__type"] == name and answer["message"], (operation, body, answer))
        status, _, answer = box.request("POST", "/", b"{}", {"Content-Type": "application/x-amz-cbor-1.1",
                                                             "X-Amz-Target": "DynamoDB_20120810.ListTables"})
        expect(status == 400 and b"SerializationException" in answer, answer)


def signatures():
    with Box("change_ms=0", "access_key=AKIDEXAMPLE", "secret_key=secret") as box:
        table(box.client(service="dynamodb"))
        box.client(service="dynamodbstreams").list_streams()
        refused("InvalidSignatureException", box.client(service="dynamodb", secret="wrong").list_tables)
        refused("UnrecognizedClientException", box.client(service="dynamodb", key="AKIDOTHER").list_tables)


def values_go_round():
    values = {"s": {"S": 'ü "quoted" \n \u2028 🚢'}, "empty": {"S": ""}, "b": {"B": bytes(range(256))}, "eb": {"B": b""},
              "n": {"N": "-12345678901234567890.123456789012345678"}, "t": {"BOOL": True}, "f": {"BOOL": False},
              "z": {"NULL": True}, "l": {"L": [{"N": "1"}, {"L": []}, {"M": {"": {"S": "x"}}}]}, "m": {"M": {}},
              "ss": {"SS": ["b", "a", ""]}, "ns": {"NS": ["3", "1", "2.5"]}, "bs": {"BS": [b"\x00", b"\xff"]}}
    values["l"]["L"][2] = {"M": {"deep": {"S": "x"}}}
    deep = {"S": "bottom"}
    for _ in range(31):
        deep = {"M": {"d": deep}}
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client)
        client.put_item(TableName="tab", Item=item("a", 1, **values, deep=deep))
        got = client.get_item(TableName="tab", Key=item("a", 1))["Item"]
        for name in ("ss", "ns", "bs"):
            (kind, inner), = got[name].items()
            expect(sorted(inner) == sorted(values[name][kind]), got[name])
            got[name] = values[name]
        expect(got == item("a", 1, **values, deep=deep), got)
        for number, form in [("007", "7"), ("1.0", "1"), ("-0", "0"), ("1E3", "1000"), ("1e-3", "0.001"), ("+4", "4")]:
            client.put_item(TableName="tab", Item=item("a", 2, n={"N": number}))
            expect(client.get_item(TableName="tab", Key=item("a", 2))["Item"]["n"]["N"] == form, number)
        bad = [{"N": "x"}, {"N": ""}, {"N": "1" * 39}, {"N": "1e126"}, {"N": "1e-131"}, {"SS": []}, {"SS": ["a", "a"]},
               {"NS": ["1", "1.0"]}, {"BS": [b"a", b"a"]}, {"NULL": False}, {"S": "x", "N": "1"}, {}, {"M": {"d": deep}},
               {"S": "x" * (400 * 1024)}]
        for value in bad:
            refused("ValidationException", harness.client(box.url, "dynamodb").put_item, TableName="tab",
                    Item=item("a", 3, v=value))
        for wrong in (item("a"), item("", 1), {"pk": {"N": "1"}, "sk": {"N": "1"}}, item("x" * 2049, 1)):
            refused("ValidationException", client.put_item, TableName="tab", Item=wrong)
        refused("ValidationException", client.get_item, TableName="tab", Key=item("a", 1, extra={"S": "x"}))


def refusals_of_expressions():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client)
        one = {":v": {"S": "x"}}
        conditions = [
            ("owner = :v", one, "Attribute name is a reserved keyword; reserved keyword: owner"),
            ("a = :w", one, "attribute value: :w"), ("#n = :v", one, "attribute name: #n"),
            ("a = ", None, "Syntax error; token: \"<EOF>\", near: \"=\""), ("", None, "can not be empty"),
            ("((a = :v))", one, "redundant parentheses"), ("a = a", None, "must be distinct"),
            ("size(a)", None, "Syntax error"), ("nothing(a)", None, "Invalid function name; function: nothing"),
            ("begins_with(a, :v)", {":v": {"N": "1"}}, "Incorrect operand type"),
            ("attribute_type(a, :v)", one, "Invalid attribute type name found; type: x"),
            ("attribute_exists(:v)", one, "requires a document path"),
            ("a BETWEEN :v AND :w", {":v": {"N": "2"}, ":w": {"N": "1"}}, "upper bound to be greater"),
            ("if_not_exists(a, :v) = :v", one, "not allowed in"), ("contains(a)", None, "number of operands: 1"),
            ("a = :v AND", one, "<EOF>"), ("a = :v b = :v", one, "token: \"b\""), ("a ! :v", one, "token: \"!\""),
            (" OR ".join(["a=:v"] * 200), one, "operators"),
            ("a = :v" + " " * 4096, one, "expression size: 4102"), (".".join(["a"] * 33) + " = :v", one, "nesting")]
        for text, values, part in conditions:
            more = {"ExpressionAttributeValues": values} if values else {}
            message = refused("ValidationException", client.delete_item, TableName="tab", Key=item("a", 1),
                              ConditionExpression=text, **more)
            expect(message.startswith("Invalid ConditionExpression: ") and part in message, (text, message))
        message = refused("ValidationException", client.delete_item, TableName="tab", Key=item("a", 1),
                          ConditionExpression="a = :v", ExpressionAttributeValues={":v": {"S": "x"}, ":w": {"S": "x"}})
        expect(message == "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}", message)
        refused("ValidationException", client.delete_item, TableName="tab", Key=item("a", 1),
                ExpressionAttributeNames={"#x": "x"})
        updates = [("SET a = :v, a.b = :v", "overlap"), ("SET a[0] = :v, a.b = :v", "conflict"),
                   ("SET a = :v SET b = :v", "can only be used once"), ("ADD a :v", "operand type: STRING"),
                   ("DELETE a :v", "ALLOWED_FOR_DELETE_OPERAND"), ("SET a = :v + b", "operator or function: +"),
                   ("SET a = list_append(b, :v)", "list_append"), ("SET pk = :v", "part of the key"),
                   ("SET a.b = :v", "document path"), ("SET a = b, c = :v", "does not exist in the item"),
                   ("SET a = size(b), c = :v", "not allowed in"), ("a = :v", "Syntax error")]
        for text, part in updates:
            message = refused("ValidationException", client.update_item, TableName="tab", Key=item("a", 1),
                              UpdateExpression=text, ExpressionAttributeValues=one)
            expect(part in message, (text, message))
        expect(client.scan(TableName="tab")["Count"] == 0, "what was refused left nothing")


def conditions_and_what_they_show():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client)
        key, update = item("a", 1), {"UpdateExpression": "SET epoch = if_not_exists(epoch, :z) + :o, #o = :me",
                                     "ExpressionAttributeNames": {"#o": "owner"}, "ReturnValues": "ALL_NEW"}
        new = client.update_item(TableName="tab", Key=key, **update, ExpressionAttributeValues={
            ":z": {"N": "0"}, ":o": {"N": "1"}, ":me": {"S": "w1"}})["Attributes"]
        expect(new == {**key, "epoch": {"N": "1"}, "owner": {"S": "w1"}}, new)
        try:
            client.update_item(TableName="tab", Key=key, UpdateExpression="SET #o = :x REMOVE epoch",
                               ConditionExpression="#o = :x AND epoch = :e", ExpressionAttributeNames={"#o": "owner"},
                               ExpressionAttributeValues={":x": {"S": "w2"}, ":e": {"N": "1"}},
                               ReturnValuesOnConditionCheckFailure="ALL_OLD")
            expect(False, "the condition was taken")
        except client.exceptions.ConditionalCheckFailedException as error:
            expect(error.response["Item"] == new, error.response)
        # the older form, as older programs send it
        client.update_item(TableName="tab", Key=key, AttributeUpdates={
            "epoch": {"Action": "ADD", "Value": {"N": "4"}}, "owner": {"Action": "DELETE"}, "s": {"Value": {"S": "x"}}},
            Expected={"owner": {"Value": {"S": "w1"}}, "gone": {"Exists": False}})
        now = client.get_item(TableName="tab", Key=key, AttributesToGet=["epoch", "owner", "s"])["Item"]
        expect(now == {"epoch": {"N": "5"}, "s": {"S": "x"}}, now)
        for wrong in ({"s": {"Value": {"S": "y"}}}, {"s": {"Exists": False}}, {"s": {"Value": {"S": "y"}, "Exists": True}},
                      {"epoch": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "5"}]}},
                      {"s": {"ComparisonOperator": "NULL"}}):
            refused("ConditionalCheckFailedException", client.delete_item, TableName="tab", Key=key, Expected=wrong)
        refused("ValidationException", client.delete_item, TableName="tab", Key=key, Expected={"s": {"Exists": True}})
        refused("ValidationException", client.delete_item, TableName="tab", Key=key,
                Expected={"s": {"Exists": False}}, ConditionExpression="attribute_exists(s)")
        client.delete_item(TableName="tab", Key=key, ConditionalOperator="OR", Expected={
            "s": {"Value": {"S": "no"}}, "epoch": {"ComparisonOperator": "BETWEEN",
                                                   "AttributeValueList": [{"N": "1"}, {"N": "5"}]}})
        expect("Item" not in client.get_item(TableName="tab", Key=key), "it is deleted")


def units(answer):
    return answer["ConsumedCapacity"]["CapacityUnits"]


def capacity():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client, **GLOBAL)
        total = {"TableName": "tab", "ReturnConsumedCapacity": "TOTAL"}
        big = {"S": "x" * 3000}
        expect(units(client.put_item(Item=item("a", 1), **total)) == 1, "a small item")
        expect(units(client.put_item(Item=item("a", 2, x=big), **total)) == 3, "3000 bytes are 3 units")
        expect(units(client.update_item(Key=item("a", 2), UpdateExpression="REMOVE x", **total)) == 3, "the larger image")
        expect(units(client.delete_item(Key=item("none", 1), **total)) == 1, "what is not there")
        client.put_item(TableName="tab", Item=item("b", 1, x={"S": "x" * 9000}))
        expect(units(client.get_item(Key=item("b", 1), **total)) == 1.5, "9 KB, eventually consistent")
        expect(units(client.get_item(Key=item("b", 1), ConsistentRead=True, **total)) == 3, "and consistent")
        expect(units(client.get_item(Key=item("none", 1), **total)) == 0.5, "nothing")
        every = client.put_item(TableName="tab", ReturnConsumedCapacity="INDEXES", ReturnItemCollectionMetrics="SIZE",
                                Item=item("c", 1, g={"S": "g"}, h={"N": "1"}, x={"S": "x"}, y=big))
        capacity = every["ConsumedCapacity"]
        expect(capacity["Table"]["CapacityUnits"] == 3 and capacity["CapacityUnits"] == 8, capacity)
        shares = {n: i["CapacityUnits"] for n, i in capacity["GlobalSecondaryIndexes"].items()}
        expect(shares == {"all": 3, "few": 1} and capacity["LocalSecondaryIndexes"]["local"]["CapacityUnits"] == 1, capacity)
        expect(every["ItemCollectionMetrics"]["ItemCollectionKey"] == {"pk": {"S": "c"}}, every)
        every = client.update_item(TableName="tab", Key=item("c", 1), UpdateExpression="SET y = :y",
                                   ExpressionAttributeValues={":y": {"S": "y"}}, ReturnConsumedCapacity="INDEXES")
        expect(set(every["ConsumedCapacity"]["GlobalSecondaryIndexes"]) == {"all"}, "y is not in the others")
        every = client.update_item(TableName="tab", Key=item("c", 1), UpdateExpression="SET g = :g",
                                   ExpressionAttributeValues={":g": {"S": "other"}}, ReturnConsumedCapacity="INDEXES")
        expect(every["ConsumedCapacity"]["GlobalSecondaryIndexes"]["few"]["CapacityUnits"] == 2, "an entry that moves")
        scan = client.scan(**total)
        expect(units(scan) == 1.5 and scan["Count"] == 4, scan)
        both = client.transact_write_items(ReturnConsumedCapacity="TOTAL", TransactItems=[
            {"Put": {"TableName": "tab", "Item": item("t", 1)}},
            {"ConditionCheck": {"TableName": "tab", "Key": item("a", 1), "ConditionExpression": "attribute_exists(pk)"}}])
        expect(both["ConsumedCapacity"][0]["WriteCapacityUnits"] == 4, both)


def one_key():
    """1,000 units written and 3,000 read a second for one partition key, in a table that has no limit of its own; another key is
    not concerned. Names of errors and reasons: DynamoDB Developer Guide, "Troubleshooting throttling"."""
    for on_demand, name in ((True, "ThrottlingException"), (False, "ProvisionedThroughputExceededException")):
        with box_and_client() as box:
            client = box.client(service="dynamodb")
            table(client, **({} if on_demand else {"BillingMode": None, "ProvisionedThroughput": {"ReadCapacityUnits": 9000,
                                                                                                "WriteCapacityUnits": 9000}}))
            big = {"S": "y" * 390 * 1024}

            def put(key, n):
                return client.put_item(TableName="tab", Item=item(key, n, y=big))

            def until_refused(call, most):
                for n in range(most):
                    try:
                        call(n)
                    except client.exceptions.ClientError as error:
                        reason, = error.response["throttlingReasons" if on_demand else "ThrottlingReasons"]
                        return n, error.response["Error"]["Code"], reason["reason"]
                return most, None, None

            n, code, reason = until_refused(lambda n, put=put: put("hot", n), 12)
            expect(n >= 2 and (code, reason) == (name, "TableWriteKeyRangeThroughputExceeded"), f"{n} of 390 units: {code} {reason}")
            put("cold", 1)
            wait_until(lambda: until_refused(lambda n: put("hot", 1), 1)[1] is None, 20, "a write of the key again")
            get = {"TableName": "tab", "Key": item("hot", 1), "ConsistentRead": True}  # 98 units
            n, code, reason = until_refused(lambda n: client.get_item(**get), 400)
            expect(n >= 30 and (code, reason) == (name, "TableReadKeyRangeThroughputExceeded"), f"{n} of 98 units: {code} {reason}")
            query = {"TableName": "tab", "KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": {"S": "cold"}}}
            expect(client.query(**query)["Count"] == 1, "another key")
    with box_and_client("key_limits=0") as box:
        client = box.client(service="dynamodb")
        table(client)
        for n in range(4):
            client.put_item(TableName="tab", Item=item("hot", n, y=big))


def throttling():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client, BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
        n = 0

        def use_up(most):
            nonlocal n
            try:
                for _ in range(most):
                    client.put_item(TableName="tab", Item=item("a", n))
                    n += 1
            except client.exceptions.ProvisionedThroughputExceededException as error:
                reason = error.response["ThrottlingReasons"][0]
                expect(reason["reason"] == "TableWriteProvisionedThroughputExceeded", reason)
                expect(reason["resource"].endswith("table/tab"), reason)

        def batch_refused():
            """Nothing of it can be written, unless a second went by since all was used up."""
            nonlocal more, tries
            tries += 1
            use_up(400)
            try:
                answer = client.batch_write_item(RequestItems={"tab": [
                    {"PutRequest": {"Item": item("c", tries * 3 + i)}} for i in range(3)]})
                more += 3 - len(answer["UnprocessedItems"]["tab"])
            except client.exceptions.ProvisionedThroughputExceededException:
                return True

        more = tries = 0
        use_up(400)
        expect(300 <= n <= 320, f"{n} writes before the burst was used up")
        wait_until(batch_refused, 60, "ProvisionedThroughputExceededException")
        box.move_clock(2000)
        answer = client.batch_write_item(RequestItems={"tab": [{"PutRequest": {"Item": item("b", i)}} for i in range(9)]})
        unwritten = answer["UnprocessedItems"]["tab"]
        expect(5 <= len(unwritten) <= 8 and "Item" in unwritten[0]["PutRequest"], unwritten)
        expect(client.scan(TableName="tab", ConsistentRead=True)["Count"] == n + more + 9 - len(unwritten), "what was written")
        box.move_clock(10 * 60 * 1000)
        client.put_item(TableName="tab", Item=item("a", 1))
        client.update_table(TableName="tab", BillingMode="PAY_PER_REQUEST")
        for i in range(400):
            client.put_item(TableName="tab", Item=item("a", i))


def pages():
    with box_and_client("key_limits=0") as box:
        client = box.client(service="dynamodb")
        table(client, **GLOBAL)
        for n in range(30):
            client.put_item(TableName="tab", Item=item("a" if n % 3 else "b", n, g={"S": "g"}, h={"N": str(-n)}) if n % 2
                            else item("a" if n % 3 else "b", n))
        query = {"TableName": "tab", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
        whole = [int(i["sk"]["N"]) for i in client.query(**query)["Items"]]
        expect(whole == [n for n in range(30) if n % 3], whole)
        for forward in (True, False):
            for limit in (1, 4, 20):
                seen = [int(i["sk"]["N"]) for page in client.get_paginator("query").paginate(
                    **query, ScanIndexForward=forward, PaginationConfig={"PageSize": limit}) for i in page["Items"]]
                expect(seen == (whole if forward else whole[::-1]), (forward, limit, seen))
        full = client.query(**query, Limit=20)
        expect("LastEvaluatedKey" in full and len(full["Items"]) == 20, "a page that is exactly full has a next one")
        none = client.query(**query, ExclusiveStartKey=full["LastEvaluatedKey"])
        expect(none["Count"] == 0 and "LastEvaluatedKey" not in none, none)
        for index, keys in (("all", {"pk", "sk", "g", "h"}), ("few", {"pk", "sk", "g"})):
            for forward in (True, False):
                seen, arguments = [], {}
                while True:
                    page = client.query(TableName="tab", IndexName=index, KeyConditionExpression="g = :g", Limit=4,
                                        ExpressionAttributeValues={":g": {"S": "g"}}, ScanIndexForward=forward, **arguments)
                    seen += [int(i["sk"]["N"]) for i in page["Items"]]
                    if "LastEvaluatedKey" not in page:
                        break
                    expect(set(page["LastEvaluatedKey"]) == keys, page["LastEvaluatedKey"])
                    arguments = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
                expect(sorted(seen) == list(range(1, 30, 2)), (index, seen))
                if index == "all":
                    expect(seen == sorted(seen, reverse=forward), seen)
        local = client.query(TableName="tab", IndexName="local", KeyConditionExpression="pk = :p AND h > :h",
                             ConsistentRead=True, ExpressionAttributeValues={":p": {"S": "a"}, ":h": {"N": "-12"}})
        expect([i["sk"]["N"] for i in local["Items"]] == ["11", "7", "5", "1"] and "g" not in local["Items"][0], local)
        message = refused("ValidationException", client.query, TableName="tab", IndexName="all", ConsistentRead=True,
                          KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": {"S": "g"}})
        expect(message == "Consistent reads are not supported on global secondary indexes", message)
        refused("ValidationException", client.query, **query, ExclusiveStartKey=item("b", 3))
        refused("ValidationException", client.scan, TableName="tab", IndexName="none")
        for segments in (1, 3, 7):
            found = [(i["pk"]["S"], i["sk"]["N"]) for s in range(segments) for page in
                     client.get_paginator("scan").paginate(TableName="tab", Segment=s, TotalSegments=segments,
                                                           PaginationConfig={"PageSize": 4}) for i in page["Items"]]
            expect(len(found) == 30 and len(set(found)) == 30, f"{segments} segments give {len(found)}")
        expect(client.scan(TableName="tab", IndexName="few")["Count"] == 15, "an index holds what has its key")
        expect(client.scan(TableName="tab", Select="COUNT", FilterExpression="attribute_exists(g)")["Count"] == 15, "COUNT")
        for n in range(12):
            client.put_item(TableName="tab", Item=item("large", n, x={"S": "x" * 200 * 1024}))
        large = [len(page["Items"]) for page in client.get_paginator("query").paginate(
            TableName="tab", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "large"}})]
        expect(large == [6, 6] or large == [6, 6, 0], f"pages of 1 MB: {large}")
        return "query, scan, indexes, segments"


def refusals_of_queries():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client, **GLOBAL)
        values = {":p": {"S": "a"}, ":n": {"N": "1"}}
        for text, used, part in [
                ("sk = :n", ":n", "missed key schema element: pk"), ("pk > :p", ":p", "not supported"),
                ("pk = :p AND pk = :p", ":p", "one condition per key"), ("pk = :n", ":n", "does not match schema type"),
                ("pk = :p OR sk = :n", ":p:n", "Invalid operator used in KeyConditionExpression: OR"),
                ("pk = :p AND sk <> :n", ":p:n", "Invalid operator used in KeyConditionExpression: <>"),
                ("pk = :p AND x = :n", ":p:n", "missed key schema element: sk")]:
            message = refused("ValidationException", client.query, TableName="tab", KeyConditionExpression=text,
                              ExpressionAttributeValues={k: v for k, v in values.items() if k in used})
            expect(part in message, (text, message))
        refused("ValidationException", client.query, TableName="tab")
        message = refused("ValidationException", client.query, TableName="tab", KeyConditionExpression="pk = :p",
                          FilterExpression="sk = :n", ExpressionAttributeValues=values)
        expect("Primary key attribute: sk" in message, message)
        old = client.query(TableName="tab", KeyConditions={"pk": {"ComparisonOperator": "EQ",
                                                                   "AttributeValueList": [{"S": "a"}]}},
                           QueryFilter={"x": {"ComparisonOperator": "NOT_NULL"}})
        expect(old["Count"] == 0, old)


def batches():
    with box_and_client("key_limits=0") as box:
        client = box.client(service="dynamodb")
        table(client)
        table(client, "other", sort=False)
        client.batch_write_item(RequestItems={
            "tab": [{"PutRequest": {"Item": item("a", n, x={"S": str(n)})}} for n in range(20)],
            "other": [{"PutRequest": {"Item": item(f"o{n}")}} for n in range(5)]})
        client.batch_write_item(RequestItems={"tab": [{"DeleteRequest": {"Key": item("a", 3)}},
                                                      {"PutRequest": {"Item": item("a", 99)}}]})
        got = client.batch_get_item(ReturnConsumedCapacity="TOTAL", RequestItems={
            "tab": {"Keys": [item("a", n) for n in range(10)], "ProjectionExpression": "#x, sk",
                    "ExpressionAttributeNames": {"#x": "x"}, "ConsistentRead": True},
            "other": {"Keys": [item("o1"), item("none")]}})
        expect(sorted(int(i["sk"]["N"]) for i in got["Responses"]["tab"]) == [0, 1, 2, 4, 5, 6, 7, 8, 9], got)
        expect(got["Responses"]["other"] == [item("o1")] and got["UnprocessedKeys"] == {}, got)
        expect({c["TableName"]: c["CapacityUnits"] for c in got["ConsumedCapacity"]} == {"tab": 10, "other": 1}, got)
        put = lambda n: {"PutRequest": {"Item": item("z", n)}}
        refused("ValidationException", client.batch_write_item, RequestItems={"tab": [put(n) for n in range(26)]})
        refused("ValidationException", client.batch_write_item, RequestItems={"tab": [put(1), put(1)]})
        refused("ValidationException", client.batch_get_item, RequestItems={"tab": {"Keys": [item("a", 1)] * 2}})
        refused("ValidationException", client.batch_get_item,
                RequestItems={"tab": {"Keys": [item("a", n) for n in range(101)]}})
        refused("ResourceNotFoundException", client.batch_write_item, RequestItems={"nowhere": [put(1)]})
        for n in range(60):
            client.put_item(TableName="tab", Item=item("big", n, x={"S": "x" * 380000}))
        got = client.batch_get_item(RequestItems={"tab": {"Keys": [item("big", n) for n in range(60)]}})
        left = got["UnprocessedKeys"]["tab"]["Keys"]
        expect(len(left) + len(got["Responses"]["tab"]) == 60 and len(left) > 10, "16 MB at a time")
        rest = client.batch_get_item(RequestItems=got["UnprocessedKeys"])
        expect(len(rest["Responses"]["tab"]) == len(left), "the keys that were left can be asked for")


def transactions():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client)
        client.put_item(TableName="tab", Item=item("a", 1, n={"N": "1"}))
        put = {"Put": {"TableName": "tab", "Item": item("b", 1), "ConditionExpression": "attribute_not_exists(pk)"}}
        count = lambda by: {"Update": {"TableName": "tab", "Key": item("a", 1), "UpdateExpression": "ADD n :n",
                                       "ExpressionAttributeValues": {":n": {"N": by}}}}
        token = "0123456789abcdef-token"
        for _ in range(3):  # the same request with one token is carried out once
            client.transact_write_items(TransactItems=[put, count("5")], ClientRequestToken=token)
        n = lambda: client.get_item(TableName="tab", Key=item("a", 1), ConsistentRead=True)["Item"]["n"]["N"]
        expect(n() == "6", n())
        refused("IdempotentParameterMismatchException", client.transact_write_items, TransactItems=[put, count("6")],
                ClientRequestToken=token)
        box.move_clock(11 * 60 * 1000)
        try:
            client.transact_write_items(TransactItems=[count("100"), {**put, "Put": {
                **put["Put"], "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}], ClientRequestToken=token)
            expect(False, "the condition was taken")
        except client.exceptions.TransactionCanceledException as error:
            reasons = error.response["CancellationReasons"]
            expect([r["Code"] for r in reasons] == ["None", "ConditionalCheckFailed"], reasons)
            expect(reasons[1]["Item"] == item("b", 1), reasons)
            expect("[None, ConditionalCheckFailed]" in error.response["Message"], error.response)
        expect(n() == "6", "nothing of it was done")
        try:
            client.transact_write_items(TransactItems=[{"Update": {
                "TableName": "tab", "Key": item("b", 1), "UpdateExpression": "SET a.b.c = :n",
                "ExpressionAttributeValues": {":n": {"N": "1"}}}}, count("1")])
            expect(False, "the path was taken")
        except client.exceptions.TransactionCanceledException as error:
            expect([r["Code"] for r in error.response["CancellationReasons"]] == ["ValidationError", "None"], "reasons")
        refused("ValidationException", client.transact_write_items, TransactItems=[count("1"), count("1")])
        refused("ValidationException", client.transact_write_items, TransactItems=[
            {"Put": {"TableName": "tab", "Item": item("x", i)}} for i in range(101)])
        client.transact_write_items(TransactItems=[{"Delete": {"TableName": "tab", "Key": item("b", 1)}}, {
            "ConditionCheck": {"TableName": "tab", "Key": item("a", 1), "ConditionExpression": "n = :n",
                               "ExpressionAttributeValues": {":n": {"N": "6.0"}}}}])
        got = client.transact_get_items(TransactItems=[
            {"Get": {"TableName": "tab", "Key": item("a", 1), "ProjectionExpression": "n"}},
            {"Get": {"TableName": "tab", "Key": item("b", 1)}}])["Responses"]
        expect(got == [{"Item": {"n": {"N": "6"}}}, {}], got)


def time_to_live():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client, StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"})
        expect(client.describe_time_to_live(TableName="tab")["TimeToLiveDescription"]
               == {"TimeToLiveStatus": "DISABLED"}, "off")
        on = {"Enabled": True, "AttributeName": "until"}
        expect(client.update_time_to_live(TableName="tab", TimeToLiveSpecification=on)["TimeToLiveSpecification"] == on, on)
        refused("ValidationException", client.update_time_to_live, TableName="tab", TimeToLiveSpecification=on)
        expect(client.describe_time_to_live(TableName="tab")["TimeToLiveDescription"]
               == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}, "on")
        now = box.now_ms() // 1000
        for n, until in enumerate([{"N": str(now + 60)}, {"N": str(now + 3600)}, {"S": str(now)}, {"N": "1"},
                                   {"N": str(now + 60) + ".5"}]):
            client.put_item(TableName="tab", Item=item("a", n, until=until))
        box.move_clock(120 * 1000)
        left = {i["sk"]["N"] for i in client.scan(TableName="tab", ConsistentRead=True)["Items"]}
        expect(left == {"1", "2", "3"}, left)


def stale_reads():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client, **GLOBAL)
        status, _, _ = box.request("POST", "/_sandbox/stale?table=none&ms=5")
        expect(status == 404, "no such table")
        box.order("POST", "stale?table=tab&ms=4000")
        get = lambda consistent: int(client.get_item(TableName="tab", Key=item("a", 1), ConsistentRead=consistent)
                                     .get("Item", {"v": {"N": "-1"}})["v"]["N"])
        seen, of_index = set(), set()
        for v in range(30):
            client.put_item(TableName="tab", Item=item("a", 1, v={"N": str(v)}, g={"S": "g"}, h={"N": str(v)}))
            expect(get(True) == v, "a consistent read sees the last write")
            old = get(False)
            expect(v - 5 <= old <= v, f"{old} is older than 4 s at {v}")
            seen.add(v - old)
            page = client.query(TableName="tab", IndexName="all", KeyConditionExpression="g = :g",
                                ExpressionAttributeValues={":g": {"S": "g"}})["Items"]
            of_index |= {v - int(i["v"]["N"]) for i in page}
            box.move_clock(1000)
        expect(len(seen) >= 3 and len(of_index) >= 3, (seen, of_index))
        box.order("POST", "stale?table=tab&ms=0")
        expect(get(False) == 29, "and again none is stale")


def tags():
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        arn = table(client, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}])["TableArn"]
        listed = lambda: {t["Key"]: t["Value"] for t in client.list_tags_of_resource(ResourceArn=arn)["Tags"]}
        expect(listed() == {"a": "1", "b": ""}, listed())
        client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "2"}, {"Key": "ü", "Value": "3"}])
        client.untag_resource(ResourceArn=arn, TagKeys=["b", "never there"])
        expect(listed() == {"a": "2", "ü": "3"}, listed())
        refused("ResourceNotFoundException", client.list_tags_of_resource, ResourceArn=arn + "x")
        refused("ValidationException", client.tag_resource, ResourceArn=arn,
                Tags=[{"Key": f"k{i}", "Value": ""} for i in range(49)])
        refused("ValidationException", client.tag_resource, ResourceArn=arn, Tags=[{"Key": "k", "Value": "v" * 257}])


def continuous_backups():
    with Box(f"change_ms={CHANGE_MS}") as box:
        client = box.client(service="dynamodb")
        table(client)
        refused("TableNotFoundException", client.describe_continuous_backups, TableName="tab")
        box.move_clock(CHANGE_MS)
        client.get_waiter("table_exists").wait(TableName="tab", WaiterConfig={"Delay": 1})
        told = client.describe_continuous_backups(TableName="tab")["ContinuousBackupsDescription"]
        expect(told == {"ContinuousBackupsStatus": "ENABLED",
                        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"}}, told)
        on = {"PointInTimeRecoveryEnabled": True}
        client.update_continuous_backups(TableName="tab", PointInTimeRecoverySpecification=on)
        told = client.describe_continuous_backups(TableName="tab")["ContinuousBackupsDescription"]
        recovery = told["PointInTimeRecoveryDescription"]
        expect(recovery["PointInTimeRecoveryStatus"] == "ENABLED" and recovery["RecoveryPeriodInDays"] == 35 and
               recovery["EarliestRestorableDateTime"] <= recovery["LatestRestorableDateTime"], told)
        client.update_continuous_backups(TableName="tab", PointInTimeRecoverySpecification={**on, "RecoveryPeriodInDays": 7})
        refused("ValidationException", client.update_continuous_backups, TableName="tab",
                PointInTimeRecoverySpecification={**on, "RecoveryPeriodInDays": 36})
        off = client.update_continuous_backups(TableName="tab", PointInTimeRecoverySpecification={
            "PointInTimeRecoveryEnabled": False})["ContinuousBackupsDescription"]
        expect(off["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}, off)
        refused("TableNotFoundException", client.describe_continuous_backups, TableName="none")


def exact_sums():
    """A counter of 38 digits, against decimal."""
    with box_and_client() as box:
        client = box.client(service="dynamodb")
        table(client, sort=False)
        sum_of = decimal.Decimal(0)
        with decimal.localcontext() as context:
            context.prec = 60
            for step in ("0.1", "0.2", "12345678901234567890123456789012345.67", "-0.3", "1e-3", "-0.001", "2.5e2"):
                sum_of += decimal.Decimal(step)
                got = client.update_item(TableName="tab", Key=item("a"), UpdateExpression="ADD n :n",
                                         ExpressionAttributeValues={":n": {"N": step}}, ReturnValues="UPDATED_NEW")
                expect(decimal.Decimal(got["Attributes"]["n"]["N"]) == sum_of, (step, got["Attributes"], sum_of))


if __name__ == "__main__":
    tests = harness.Tests()
    for test in (life_of_a_table, names_of_tables_in_pages, definitions_are_checked, bytes_of_answers, signatures,
                 values_go_round, refusals_of_expressions, conditions_and_what_they_show, capacity, one_key,
                 throttling, pages,
                 refusals_of_queries, batches, transactions, time_to_live, stale_reads, tags, continuous_backups, exact_sums):
        tests.run(test.__name__.replace("_", " "), test)
    tests.end()
