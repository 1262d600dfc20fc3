/** @param {string} folder @param {string} names separated by spaces */
const tests = (folder, names) => names.split(" ").map((name) => `test/${folder}/${name}.test.ts`);
/** @param {string} folder @param {string} names separated by spaces */
const sources = (folder, names) => names.split(" ").map((name) => `src/${folder}/${name}.ts`);

const CONTEXT_CHECKS = "check describe-problem own-message ranges replacement signed-thinking";
const CONTEXT_BUILD = "build-context convert core preamble-answer trace";
const CONTEXT_TEXT =
	"bash-execution-text calibration compact compaction-steps diff-requests summary-text serialize shorten summary-request tokens window-budget";

/**
 * The code that `npm run mutation` mutates, in parts that end within some minutes each: the sources of a part, and the test
 * files that must detect the mutants.
 * @type {Record<string, { mutate: string[], tests: string[] }>}
 */
export const PARTS = {
	trust: {
		mutate: sources("trust", "store code-files"),
		tests: tests("trust", "store code-files script-imports"),
	},
	gates: {
		mutate: sources("hooks", "gates check-answer"),
		tests: tests("hooks", "check-answer gates policy prompt-event"),
	},
	"context-checks": {
		mutate: sources("context", CONTEXT_CHECKS),
		tests: tests("context", "check convert describe-problem own-message ranges replacement signed-thinking"),
	},
	"context-build": {
		mutate: sources("context", CONTEXT_BUILD),
		tests: tests("context", "build-context convert core preamble preamble-answer trace"),
	},
	"context-text": {
		mutate: sources("context", CONTEXT_TEXT),
		tests: tests("context", CONTEXT_TEXT),
	},
	"context-requests": {
		mutate: [
			"src/context/*.ts",
			...sources("context", `${CONTEXT_CHECKS} ${CONTEXT_BUILD} ${CONTEXT_TEXT}`).map((path) => `!${path}`),
		],
		tests: tests(
			"context",
			"cache-loss context-memo digest entry-message ledger ledger-parts omitted-images preamble preamble-parts recorded-preamble recorded-request shared-length stability",
		),
	},
	"log-entries": {
		mutate: sources("log", "codec entry freeze linear-entry read-entry read-message read-preamble"),
		tests: tests("log", "codec entry linear-entry read-entry read-message read-preamble"),
	},
	"log-lines": {
		mutate: sources("log", "line-index line-patterns raw-lines read-usage"),
		tests: tests("log", "line-index line-patterns raw-lines read-usage"),
	},
	"log-files": {
		mutate: sources(
			"log",
			"batch-journal check-session import-session open-error open-file repair-session session-checker session-file session-log tree-file",
		),
		tests: tests(
			"log",
			"check-session import-session open-file repair-session session-faults session-log session-log-reads session-writes",
		),
	},
	"log-catalog": {
		mutate: sources(
			"log",
			"catalog command-history earlier-prompts gate-text manage request-usage search searched-texts session-paths session-summary",
		),
		tests: tests(
			"log",
			"catalog command-history earlier-prompts gate-text manage request-usage search-entries searched-texts session-paths session-summary",
		),
	},
};
