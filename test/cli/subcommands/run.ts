import type { Subcommand, SubcommandOptions } from "../../../src/cli/options.js";
import { runSubcommand } from "../../../src/cli/subcommands/index.js";
import { recordIO } from "../../helpers/record-io.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";

/** Environment of a subcommand. Default: new, empty directories. */
export interface RunPlace extends Partial<SubcommandOptions> {
	agentDir?: string;
	cwd?: string;
	env?: Record<string, string>;
	outIsTerminal?: boolean;
	/** Local model servers. Default: none. */
	ports?: { ollama?: number };
}

/** Runs a subcommand as the program does, in its own environment. */
export async function run(command: Subcommand, place: RunPlace = {}) {
	const { agentDir = tempAgentDir(), cwd = tempDir("pi-project-"), env, outIsTerminal, ports, ...options } = place;
	const io = recordIO(outIsTerminal);
	const code = await runSubcommand(
		command,
		{
			hooks: [],
			findHooks: true,
			trust: false,
			offline: true,
			verbose: false,
			json: false,
			...options,
		},
		io,
		{
			env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH, ...env },
			home: tempDir("pi-home-"),
			cwd,
			localServers: { ports: ports ?? {} },
		},
	);
	return { code, stdout: io.stdout(), stderr: io.stderr(), agentDir, cwd };
}
