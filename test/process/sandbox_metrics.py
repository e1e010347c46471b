"""The sandbox's CloudWatch, as far as consumers use it: PutMetricData in each form that clients speak, made and read by
botocore: JSON with a target, CBOR with the operation in the path, and the older form with XML."""

import gzip
import http.client

import botocore.session
from botocore.config import Config

import harness
from harness import expect
from sandbox_box import Box, refused

FORMS = ("json", "smithy-rpc-v2-cbor", "query")
DATUM = {"MetricName": "Lag", "Value": 1.5, "Unit": "Milliseconds",
         "Dimensions": [{"Name": "Stream", "Value": 'a&b=c <"ü">'}]}


def client_of(box, form, key="AKIDEXAMPLE", secret="secret"):
    session = botocore.session.Session()
    model = session.get_component("data_loader").load_service_model("cloudwatch", "service-2")
    expect(form in model["metadata"]["protocols"], f"botocore does not speak {form} here")
    model["metadata"]["protocols"] = [form]
    model["metadata"]["protocol"] = form
    return session.create_client("cloudwatch", "us-east-1", endpoint_url=box.url, aws_access_key_id=key,
                                 aws_secret_access_key=secret,
                                 config=Config(retries={"total_max_attempts": 1}, parameter_validation=False))


def taken(box, form):
    client = client_of(box, form)
    before = box.stats()["metric_data"]
    client.put_metric_data(Namespace="App", MetricData=[DATUM])
    client.put_metric_data(Namespace="App", MetricData=[
        {"MetricName": "a", "Values": [1, 2.5], "Counts": [3, 4]},
        {"MetricName": "b", "StatisticValues": {"SampleCount": 2, "Sum": 3, "Minimum": 1, "Maximum": 2}},
        {"MetricName": "c", "Value": 0, "Timestamp": 1795220326}])
    client.put_metric_data(Namespace="App", MetricData=[DATUM] * 1000)  # packed by botocore where it packs
    expect(box.stats()["metric_data"] - before == 1004, box.stats()["metric_data"])


def refusals(box, form):
    old = form == "query"
    put = client_of(box, form).put_metric_data
    missing, value, both = (("MissingParameter", "InvalidParameterValue", "InvalidParameterCombination") if old else
                            ("MissingRequiredParameterException", "InvalidParameterValueException",
                             "InvalidParameterCombinationException"))
    said = refused(missing, put, MetricData=[DATUM])
    expect("Namespace" in said, said)
    refused(missing, put, Namespace="App")
    refused(missing, put, Namespace="App", MetricData=[{"Value": 1}])
    refused(missing, put, Namespace="App", MetricData=[{"MetricName": "a"}])
    refused(value, put, Namespace="AWS/Kinesis", MetricData=[DATUM])
    refused(value, put, Namespace="App", MetricData=[DATUM] * 1001)
    refused(value, put, Namespace="App", MetricData=[{**DATUM, "Dimensions": [DATUM["Dimensions"][0]] * 31}])
    refused(both, put, Namespace="App", MetricData=[{**DATUM, "Values": [1]}])
    refused(both, put, Namespace="App", MetricData=[{"MetricName": "a", "Values": [1, 2], "Counts": [1]}])


def each_form():
    with Box() as box:
        for form in FORMS:
            taken(box, form)
            refusals(box, form)
    return ", ".join(FORMS)


def signatures():
    """Checked over what was sent, which is not what the sandbox makes of it."""
    with Box("access_key=AKIDEXAMPLE", "secret_key=secret") as box:
        for form in FORMS:
            client_of(box, form).put_metric_data(Namespace="App", MetricData=[DATUM])
            refused("InvalidSignatureException", client_of(box, form, secret="wrong").put_metric_data, Namespace="App",
                    MetricData=[DATUM])


def post(box, path, content_type, body, **headers):
    connection = http.client.HTTPConnection(box.address, timeout=20)
    try:
        connection.request("POST", path, body, {"Content-Type": content_type, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def junk():
    """What is none of the forms is refused and breaks nothing."""
    form, path = "application/x-www-form-urlencoded", "/service/GraniteServiceVersion20100801/operation/"
    with Box() as box:
        for body, code in ((b"", b"InvalidAction"), (b"Action=PutMetricData&%zz=1", b"MalformedQueryString"),
                           (b"Action=PutMetricData&nothing", b"MalformedQueryString"),
                           (b"Action=GetMetricData", b"InvalidAction"), (b"Namespace=x", b"InvalidAction"),
                           (b"Action=PutMetricData&Namespace=x&MetricData.member.1.Value=1", b"MissingParameter"),
                           (b"Action=PutMetricData&Namespace=x&MetricData.member.1.Value=1x"
                            b"&MetricData.member.1.MetricName=m", b"InvalidParameterValue"),
                           (b"Action=PutMetricData&Namespace=x&" + b"a." * 3000 + b"b=1", b"MissingParameter")):
            status, text = post(box, "/", form, body)
            expect(status == 400 and code in text and b"<ErrorResponse" in text, (body[:60], status, text))
        expect(post(box, path + "PutMetricData", "application/cbor", b"\xa1")[0] == 400, "half a map")
        expect(post(box, path + "Nothing", "application/cbor", b"\xa0")[0] == 400, "no such operation")
        expect(post(box, path + "PutMetricData", "application/cbor", b"\x1f\x8b junk",
                    **{"Content-Encoding": "gzip"})[0] == 400, "junk that says it is packed")
        good = b"Action=PutMetricData&Namespace=x&MetricData.member.1.Value=1&MetricData.member.1.MetricName=m"
        expect(post(box, "/", form, gzip.compress(good), **{"Content-Encoding": "gzip"})[0] == 200, "packed")
        expect(box.stats()["metric_data"] == 1, box.stats())


if __name__ == "__main__":
    tests = harness.Tests()
    for test in (each_form, signatures, junk):
        tests.run(test.__name__.replace("_", " "), test)
    tests.end()
