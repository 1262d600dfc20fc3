// Runs RPC mode from source, as a program of its own. Arguments: options of the session, as JSON.
import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
const { runRpc } = await jiti.import("../../../src/cli/run-rpc.ts");
const { standardIO } = await jiti.import("../../../src/cli/standard-io.ts");
process.exitCode = await runRpc(JSON.parse(process.argv.at(-1) ?? "{}"), standardIO());
