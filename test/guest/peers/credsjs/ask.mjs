// ask.mjs - asks Kinesis for the shards of a stream, with whatever credentials, region and endpoint the JavaScript SDK
// finds by itself, and prints the error that comes back: the JavaScript side of peer_creds.py.
import https from "node:https";
import { createRequire } from "node:module";

// The packages are where install.sh put them, beside no file of this checkout.
const load = createRequire(process.argv[2] + "/");
const { KinesisClient, ListShardsCommand } = load("@aws-sdk/client-kinesis");
const { NodeHttpHandler } = load("@smithy/node-http-handler");

// The default handler speaks HTTP/2 in the clear, which the server of the test does not. A host with a name is not asked.
const httpsAgent = new https.Agent({ lookup: (host, _, done) => done(new Error(`no address for ${host}`)) });
try {
  const client = new KinesisClient({ requestHandler: new NodeHttpHandler({ httpsAgent }) });
  await client.send(new ListShardsCommand({ StreamName: "stream" }));
} catch (error) {
  console.log(`${error.name}: ${error.message}`.replaceAll("\n", " "));
  process.exit(1);
}
