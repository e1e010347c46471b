"""endpoints_botocore.py PROGRAM - the endpoint of every service we call, in every region of every partition botocore
knows, with and without FIPS and dual stack, is the one that botocore's rule set for that service gives; so are those of
the pseudo-regions and of accounts. Another botocore than the pinned one: SLOOP_TEST_BOTOCORE=FOLDER."""
import itertools
import sys

import oracle

botocore = oracle.botocore_or_skip()
import botocore.config
import botocore.exceptions
import botocore.model
import botocore.session
from botocore.endpoint_provider import EndpointProvider

# In the order of slp_svc; the name under which botocore has the rule set.
SERVICES = ["kinesis", "dynamodb", "dynamodbstreams", "sts", "cloudwatch", "sso", "sso-oidc", "signin", "glue"]
FUTURE = ["us-future-7", "zz-new-1"]  # regions that nobody has heard of yet


def regions(loader):
    found = set(FUTURE)
    for partition in loader.load_data("partitions")["partitions"]:
        found.update(name for name in partition["regions"] if not name.endswith("-global"))
    return sorted(found)


def their_url(provider, region, fips, dualstack):
    try:
        endpoint = provider.resolve_endpoint(Region=region, UseFIPS=fips, UseDualStack=dualstack)
    except botocore.exceptions.EndpointProviderError as error:
        return None, str(error)
    return endpoint.url.rstrip("/") + "/", endpoint.properties


def pseudo_regions(program):
    """REGION-fips and fips-REGION, which a client of botocore understands before it asks the rule set."""
    session = botocore.session.Session()
    names = [name for region in regions(session.get_component("data_loader"))
             for name in (region + "-fips", "fips-" + region)] + ["fips-fips-a-b", "a-fips-b-fips", "a-fips-fips-1"]
    cases = [(0, name, dualstack) for name in names for dualstack in (False, True)]
    ours = oracle.run(program, ([str(svc), name, "0", "1" if dualstack else "0", "disabled", "", "", ""]
                                for svc, name, dualstack in cases))
    theirs = []
    for svc, name, dualstack in cases:
        config = botocore.config.Config(use_dualstack_endpoint=dualstack, account_id_endpoint_mode="disabled")
        try:
            client = session.create_client(SERVICES[svc], name, aws_access_key_id="x", aws_secret_access_key="y", config=config)
        except botocore.exceptions.EndpointVariantError:
            theirs.append(None)  # an older table of botocore's lacks it, its rule set has it
            continue
        url, _, _ = client._resolve_endpoint_ruleset(client.meta.service_model.operation_model("ListStreams"), {}, {
            "client_region": client.meta.region_name, "client_config": client.meta.config, "auth_type": None,
            "has_streaming_input": False})
        theirs.append(url.rstrip("/") + "/")
    for case, our, their in zip(cases, ours, theirs):
        if their is not None and our != their:
            sys.exit("%r: %s, theirs %s" % (case, our, their))
    if len(theirs) - theirs.count(None) < 100:
        sys.exit("%d pseudo-regions were compared" % (len(theirs) - theirs.count(None)))
    return len(theirs) - theirs.count(None)


CALLS = [  # service, X-Amz-Target's version, operation, the member with an ARN, and that ARN
    (0, "Kinesis_20131202", "GetRecords", "StreamARN", "arn:%s:kinesis:%s:222222222222:stream/s"),
    (0, "Kinesis_20131202", "GetShardIterator", "StreamARN", "arn:%s:kinesis:%s:222222222222:stream/s"),
    (0, "Kinesis_20131202", "ListShards", "StreamARN", "arn:%s:kinesis:%s:222222222222:stream/s"),
    (0, "Kinesis_20131202", "DescribeStreamSummary", "StreamARN", "arn:%s:kinesis:%s:222222222222:stream/s"),
    (0, "Kinesis_20131202", "RegisterStreamConsumer", "StreamARN", "arn:%s:kinesis:%s:222222222222:stream/s"),
    (0, "Kinesis_20131202", "SubscribeToShard", "ConsumerARN", "arn:%s:kinesis:%s:222222222222:stream/s/consumer/c:1"),
    (1, "DynamoDB_20120810", "DescribeTable", "TableName", "arn:%s:dynamodb:%s:222222222222:table/t"),
    (2, "DynamoDBStreams_20120810", "DescribeStream", "StreamArn", "arn:%s:dynamodb:%s:222222222222:table/t/stream/x"),
    (2, "DynamoDBStreams_20120810", "GetRecords", "ShardIterator",
     "arn:%s:dynamodb:%s:222222222222:table/t/stream/x|1|AAAA")]


def accounts(program, loader, partitions):
    """The hosts of accounts, call by call, in each account_id_endpoint_mode. Ours differ on purpose in one thing: with
    `disabled` an ARN of Kinesis does not lead to its account's host either."""
    names = {name: partition["id"] for partition in partitions["partitions"] for name in partition["regions"]}
    cases, theirs, differ = [], [], 0
    for svc, target, operation, member, arn in CALLS:
        model = botocore.model.ServiceModel(loader.load_service_model(SERVICES[svc], "service-2"))
        operation_model = model.operation_model(operation)
        provider = EndpointProvider(loader.load_service_model(SERVICES[svc], "endpoint-rule-set-1"), partitions)
        context = {p.member_name: p.name for p in operation_model.context_parameters}
        static = {p.name: p.value for p in operation_model.static_context_parameters}
        for region, fips, dualstack, mode, account, where in itertools.product(
                regions(loader), (False, True), (False, True), ("", "preferred", "disabled", "required"),
                ("", "111111111111"), ("", "here", "there")):
            named = arn % (names.get(region, "aws"), region if where == "here" else region[:-1] + "9") if where else ""
            asked = dict(static, Region=region, UseFIPS=fips, UseDualStack=dualstack,
                         AccountIdEndpointMode=mode or "preferred")
            if account:
                asked["AccountId"] = account
            if named:
                asked[context[member]] = named
            try:
                their = provider.resolve_endpoint(**asked).url.rstrip("/") + "/"
            except botocore.exceptions.EndpointProviderError:
                their = None
            if svc == 0 and mode == "disabled" and named:
                differ += 1
                their = provider.resolve_endpoint(**{k: v for k, v in asked.items() if k != context[member]}).url + "/"
            cases.append([str(svc), region, str(int(fips)), str(int(dualstack)), mode, target + "." + operation, named,
                          account])
            theirs.append(their)
    ours = oracle.run(program, cases)
    wrong = ["%r: %s, theirs %s" % row for row in zip(cases, ours, theirs)
             if (row[1] != row[2] if row[2] else "account_id_endpoint_mode is required" not in row[1])]
    hosts = sum(1 for their in theirs if their and their.split("/")[2][:1].isdigit())
    if wrong or hosts < 10000:
        sys.exit("\n".join(wrong[:20]) + "\n%d of %d hosts of accounts differ" % (len(wrong), hosts))
    return "%d calls with and without accounts alike, %d to an account's host, %d refused, %d otherwise on purpose" % (
        len(cases), hosts, theirs.count(None), differ)


def main():
    loader = botocore.session.Session().get_component("data_loader")
    partitions = loader.load_data("partitions")
    providers = [EndpointProvider(loader.load_service_model(name, "endpoint-rule-set-1"), partitions) for name in SERVICES]
    cases = list(itertools.product(range(len(SERVICES)), regions(loader), (False, True), (False, True)))
    ours = oracle.run(sys.argv[1], ([str(svc), region, "1" if fips else "0", "1" if dualstack else "0", "", "", "", ""]
                                    for svc, region, fips, dualstack in cases))
    if len(ours) != len(cases):
        sys.exit("%d answers to %d cases" % (len(ours), len(cases)))
    alike, refused, different = pseudo_regions(sys.argv[1]), 0, []
    by_account = accounts(sys.argv[1], loader, partitions)
    for case, url in zip(cases, ours):
        svc, region, fips, dualstack = case
        theirs, why = their_url(providers[svc], region, fips, dualstack)
        if theirs is None:
            refused += 1  # their table of that partition lacks it: our guess harms nobody
        elif theirs == url:
            alike += 1
        else:
            different.append("%s %s%s%s: %s, theirs %s" % (SERVICES[svc], region, " FIPS" if fips else "",
                                                          " dual stack" if dualstack else "", url, theirs))
    for line in different[:20]:
        print(line)
    if different or alike < 1000:
        sys.exit("%d different, %d alike" % (len(different), alike))
    print("%d endpoints alike; %d that botocore's tables lack; %s" % (alike, refused, by_account))


main()
