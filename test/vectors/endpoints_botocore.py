"""endpoints_botocore.py PROGRAM - the endpoint of every service we call, in every region of every partition botocore
knows, with and without FIPS and dual stack, is the one that botocore's rule set for that service gives."""
import itertools
import sys

import oracle

botocore = oracle.botocore_or_skip()
import botocore.exceptions
import botocore.session
from botocore.endpoint_provider import EndpointProvider

# In the order of slp_svc; the name under which botocore has the rule set.
SERVICES = ["kinesis", "dynamodb", "dynamodbstreams", "sts", "cloudwatch", "sso", "sso-oidc"]
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


def main():
    loader = botocore.session.Session().get_component("data_loader")
    partitions = loader.load_data("partitions")
    providers = [EndpointProvider(loader.load_service_model(name, "endpoint-rule-set-1"), partitions) for name in SERVICES]
    cases = list(itertools.product(range(len(SERVICES)), regions(loader), (False, True), (False, True)))
    ours = oracle.run(sys.argv[1], ([str(svc), region, "1" if fips else "0", "1" if dualstack else "0"]
                                    for svc, region, fips, dualstack in cases))
    if len(ours) != len(cases):
        sys.exit("%d answers to %d cases" % (len(ours), len(cases)))
    alike, refused, different = 0, 0, []
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
    print("%d endpoints alike; %d that botocore's tables lack" % (alike, refused))


main()
