import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { libraryPatches, libraryPatchesPlugin } from "../bin/library-patches.js";
import { createMemoryDir } from "./helpers/memory-dir.js";

declare module "vitest" {
	interface ProvidedContext {
		/** Directory in memory for temporary files; missing where there is none. */
		memoryDir?: string;
	}
}

const root = fileURLToPath(new URL("..", import.meta.url));
const alias = [
	{ find: /^@mariozechner\/pi-ai$/, replacement: `${root}src/models/library.ts` },
	{ find: "@mariozechner/pi-coding-agent/hooks", replacement: `${root}src/hooks/index.ts` },
	{ find: "@mariozechner/pi-coding-agent", replacement: `${root}src/index.ts` },
];
const env = { FORCE_COLOR: "3", TZ: "UTC" };
/** Most tests wait for a process, a terminal or a frame, so that more workers than processors use idle time. */
const WORKERS = 5;
/** Ends a worker, and with it the processes of its tests, if its run was killed. */
const END_WITH_RUN = '--import=data:text/javascript,process.once("disconnect",()=>process.exit(1))';
/**
 * Most code of a test runs a few times. By default Node 20 optimizes it nevertheless, which takes a tenth of the CPU time of
 * the workers. Newer versions have no such option.
 */
const V8_OPTIONS = process.version.startsWith("v20.") ? ["--interrupt-budget=2000000"] : [];
/** Room for young objects, MB: tests make many that soon die. Saves a twentieth of the CPU time. */
const HEAP_OPTIONS = ["--max-semi-space-size=64", "--min-semi-space-size=32"];
/**
 * Five workers leave no processor idle for threads that collect garbage, and code of a file that ran minutes ago runs again.
 */
const THRIFT_OPTIONS = ["--single-threaded-gc", "--no-flush-bytecode"];
/** Workers keep loaded modules for their next file: loading the sources again took longer than the tests. */
const poolOptions = {
	forks: { isolate: false, execArgv: [END_WITH_RUN, ...V8_OPTIONS, ...HEAP_OPTIONS, ...THRIFT_OPTIONS] },
};

/** Loads libraries with the same replaced modules as in the bundle. */
const patches = libraryPatches();
/**
 * Resolves dynamic imports of packages when their module is transformed. Otherwise a worker asks the main process each
 * time that one runs, and a session runs several.
 */
const resolvedImports: Plugin = {
	name: "resolved-imports",
	async transform(code, id) {
		if (!id.startsWith(`${root}src/`)) return null;
		const names = new Set([...code.matchAll(/\bimport\("(?!node:)([@\w][^"]*)"\)/g)].map(([, name = ""]) => name));
		const resolved = await Promise.all(
			[...names].map(async (name) => [name, (await this.resolve(name, id))?.id] as const),
		);
		const paths = new Map(resolved);
		return code.replace(/\bimport\("([^"]+)"\)/g, (call, name) => {
			const path = paths.get(name);
			return path ? `import(${JSON.stringify(path)})` : call;
		});
	},
};
/** Tests of tools, which pass on this machine and, as projects, on other hosts: see test/hosts.ts and test/helpers/tool-hosts.ts. */
const HOST_TESTS = "bash,edit,jobs,large-trees,read,search,write";
/** Tests that take seconds of CPU time each, because they start other programs or try every case: `npm run test:slow`. */
const SLOW_TESTS = [
	"cli/subcommands/{doctor,hooks-new,verify-long}",
	"docs/{packages,testing,types}",
	"extensions/fixtures",
	"helpers/{git-server,npm-registry,package-fixtures}",
	"hooks-examples/{auto-commit,containers,git-checkpoint,ssh}",
	"mcp/{elicitation,session}",
	"models/every-model",
	"modes/interactive/scenes/*",
	"modes/interactive/{mcp,other-machine}",
	"packages/{examples,install-git,install-npm,lock,package-manager}",
	"regular-expressions",
	"resources/git-worktrees",
	"services/code/package-code",
	"testing/kit",
	"tools/machine/shell-machine",
	"tui/terminal-guard",
].map((name) => `test/${name}.test.ts`);
const HOSTS = process.env.PI_TEST_HOST?.split(",") ?? ["sh"];
const plugins = [libraryPatchesPlugin(patches), resolvedImports];
const server = { deps: { inline: [patches.modules] } };
const runner = `${root}test/helpers/brief-runner.ts`;
/** Modules of Node and of libraries are imported as Node imports them: a proxy for each takes time with each use. */
const deps = { interopDefault: false };

/**
 * Runs the unit tests first: meanwhile, the program is installed, for which the end-to-end tests would wait. Projects with
 * short files come last, when workers run out of files. Within a project, the files that took longest come first.
 */
class ProjectSequencer extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const order = ["unit", "slow", "e2e", "hosts", "faults"];
		const place = ({ project }: TestSpecification) => order.indexOf(project.name.split("-")[0] ?? "");
		return (await super.sort(files)).sort((a, b) => place(a) - place(b));
	}
}

/** Temporary files are in memory where possible. */
const memoryDir = createMemoryDir();
const provide = memoryDir === undefined ? {} : { memoryDir };
/** Run in the worker before each file. */
const always = ["test/helpers/settle-imports.ts"];
const setupFiles = [...always, "test/helpers/use-memory-dir.ts"];

/** A machine that does other work, too, can take seconds for what is polled. */
const expect = { poll: { timeout: 10_000 } };

/** The unit tests; coverage and mutation tests run some of them. */
export const unit = {
	resolve: { alias },
	plugins,
	test: {
		name: "unit",
		root,
		server,
		runner,
		deps,
		env,
		poolOptions,
		expect,
		include: ["test/**/*.test.ts"],
		exclude: ["test/e2e/**", "test/faults/**", ...SLOW_TESTS],
		provide,
		setupFiles,
		testTimeout: 15_000,
	},
};

/** Tests of the built program in a pty are a separate project: they are slow, and must not fail on a busy machine. */
export default defineConfig({
	test: {
		root,
		pool: "forks",
		poolOptions,
		maxWorkers: WORKERS,
		// Equal to the maximum: if idle workers may exit, the pool ends one of them twice and crashes.
		minWorkers: WORKERS,
		reporters: ["default"],
		sequence: { sequencer: ProjectSequencer },
		projects: [
			unit,
			{ ...unit, test: { ...unit.test, name: "slow", include: SLOW_TESTS, exclude: [] } },
			...HOSTS.map((host) => ({
				resolve: { alias },
				plugins,
				test: {
					name: `hosts-${host}`,
					server,
					runner,
					deps,
					env: { ...env, PI_TEST_HOST: host },
					poolOptions,
					expect,
					setupFiles: always,
					include: [`test/tools/{${HOST_TESTS}}.test.ts`, "test/session/files/record-files.test.ts"],
					// Each call of a container's engine starts several processes.
					testTimeout: 60_000,
				},
			})),
			{
				resolve: { alias },
				plugins,
				test: {
					name: "e2e",
					server,
					runner,
					deps,
					globalSetup: ["test/e2e/install-program.ts"],
					provide,
					setupFiles: [...setupFiles, "test/e2e/await-program.ts"],
					env,
					poolOptions,
					expect,
					include: ["test/e2e/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				resolve: { alias },
				plugins,
				test: {
					name: "faults",
					server,
					runner,
					deps,
					env,
					poolOptions,
					expect,
					provide,
					setupFiles,
					include: ["test/faults/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
		],
	},
});
