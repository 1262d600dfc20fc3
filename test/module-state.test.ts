import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));

/**
 * Variables of modules, which all sessions of a process share, and why no session can affect another through them. A
 * `WeakMap` or `WeakSet` needs no entry: it holds facts about an object, and sessions share only frozen objects.
 */
const SHARED: Readonly<Record<string, string>> = {
	"extensions/custom-editor.ts offered": "set while a factory runs, which does not wait for anything",
	"extensions/coding-agent-module.ts queues": "changes of files, which wait for each other whoever makes them",
	"extensions/running-code.ts lastTheme": "for timers, which do not say which session they belong to",
	"extensions/running-code.ts running": "separates the code of sessions by its asynchronous context",
	"hooks/bound-screen.ts providers": "a counter that makes ids unique",
	"hooks/granted-handles.ts authorityOf": "assigned once, by the static block of its class",
	"hooks/granted-handles.ts create": "assigned once, by the static block of its class",
	"log/line-index.ts shared": "a buffer that is filled and read without a pause in between",
	"models/built-in-models.ts builtIn": "the models that ship with pi, the same in every session",
	"models/logins.ts registered": "logins by provider; only a registration in code adds one",
	"network/light-fetch.ts clients":
		"connections of pi's own process, by protocol; sessions with another network use fetch",
	"network/network.ts ofProcess": "only pi's own process sets it; sessions with another environment ignore it",
	"network/request-scope.ts scopes": "separates the requests of sessions by their asynchronous context",
	"models/hook-meter.ts running": "separates the requests of hooks by their asynchronous context",
	"models/hook-meter.ts isNeeded": "whether hooks of any session send requests; counting more of them changes nothing",
	"services/models/hook-routes.ts answering": "separates the requests of sessions by their asynchronous context",
	"services/models/hook-routes.ts routed": "clients that send each request by the session that it belongs to",
	"services/models/hook-routes.ts running": "separates the requests of sessions by their asynchronous context",
	"services/models/hook-routes.ts sessions":
		"requests outside of calls reach one of them only if no other has such a provider",
	"tools/machine/local-machine.ts located": "the path of the installed ripgrep",
	"tui/key-table.ts listed": "the table of keys, complete when the module has loaded",
	"tui/key-table.ts scopes": "the table of keys, complete when the module has loaded",
	"tui/draw-markdown.ts parser": "a parser, which has no state",
	"models/likelihood.ts collator": "a collator, which has no state",
	"tui/internals/measure-text.ts graphemeSegmenter": "a segmenter, which has no state",
	"tui/internals/measure-text.ts wordSegmenter": "a segmenter, which has no state",
	"tui/links.ts shown": "a property of the terminal, of which a process has one",
	"util/file-lock.ts self": "the identity of the process",
	"util/highlight.ts engine": "the highlighter, once it is loaded",
	"util/highlight.ts loading": "the highlighter, once it is loaded",
	"util/pi-ai.ts loaded": "clients of wire formats, which have no state",
	"util/pi-ai.ts registered": "functions by wire format, as in pi-ai; each is registered under a name of its own",
	"util/package-root.ts root": "the directory of the package",
	"util/paced-fetch.ts latin1": "a decoder that does not stream",
	"util/reaper.ts groups":
		"process groups, each ended by the session that started it, and all of them with the process",
	"util/reaper.ts reaper": "a helper process that outlives this one, for all process groups",
	"util/sanitize.ts knownStyles": "a cache of a pure function",

	"util/word-diff.ts loaded": "a module, once it is loaded",
	"util/word-diff.ts loading": "a module, once it is loaded",
};

/** `let`, and constants in lower case that can change inside; upper case marks those that never do. */
const VARIABLE =
	/^(?:export )?(?:let (\w+)|const ([a-z]\w*)(?:: (?!Readonly)[^=]*)? = (?:new (?!Weak(?:Map|Set)\b)[A-Z]|\[\]|\{\}))/gm;
const STATIC_FIELD = /^\tstatic (?!async\b)(?:readonly )?(#?\w+) *[:=]/gm;

function variablesOf(path: string): string[] {
	const code = readFileSync(`${SRC}/${path}`, "utf8");
	return [...code.matchAll(VARIABLE), ...code.matchAll(STATIC_FIELD)].map(
		([, mutable, constant]) => `${path} ${mutable ?? constant}`,
	);
}

test("modules have no variables through which a session could affect another one", () => {
	const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
	// The script of exported pages is the text of a template.
	const found = files.filter((path) => path !== "export/page-script.ts").flatMap(variablesOf);
	expect(found.sort()).toEqual(Object.keys(SHARED).sort());
});
