// The long form of the fault tests. Usage: npm run test:faults -- [--seed N] [--only family] [--rounds N]
//   --seed N       the first seed; default: another one each time. Prints it
//   --only family  only the tests whose name contains this
//   --rounds N     rounds of each random test, instead of its own number
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const options = { seed: { type: "string" }, only: { type: "string" }, rounds: { type: "string" } };
let values;
try {
	values = parseArgs({ options }).values;
} catch (error) {
	console.error(error.message);
	process.exit(2);
}
for (const name of ["seed", "rounds"]) {
	if (values[name] === undefined || /^\d+$/.test(values[name])) continue;
	console.error(`--${name} requires a number, not ${values[name]}`);
	process.exit(2);
}
const seed = values.seed ?? String(Date.now() % 2 ** 31);
console.log(`seed ${seed}; repeat with: npm run test:faults -- --seed ${seed}`);
const vitest = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--config", join(ROOT, "test/vitest.config.ts")];
const pattern = values.only?.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const selection = ["--project", "faults", ...(pattern ? ["-t", pattern] : [])];
const env = { ...process.env, PI_FAULTS: "long", PI_FAULTS_SEED: seed };
if (values.rounds !== undefined) env.PI_FAULTS_ROUNDS = values.rounds;
process.exitCode =
	spawnSync(process.execPath, [...vitest, ...selection], { cwd: ROOT, env, stdio: "inherit" }).status ?? 1;
