import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { REFUSED_VALUES } from "../../src/extensions/refused-values.js";
import { createHookTest } from "../../src/testing/index.js";
import { PACKAGE_ROOT } from "../helpers/installed-package.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** Lines that leave a file to jiti: a package that is not one of pi. */
const COMPILERS = {
	pi: "",
	jiti: 'import { parse } from "yaml";\nparse("a");',
	"jiti, with a decorator":
		'import { parse } from "yaml";\nparse("a");\nconst mark = (target) => target;\n@mark class Marked {}',
};
const REFUSED = 'from "@earendil-works/pi-coding-agent";';
/** Ways to use a value that pi refuses: imports, code that uses it, and its name in the message. */
const USES: readonly [way: string, imports: string, use: string, name: string][] = [
	["a property", `import { SettingsManager } ${REFUSED}`, "SettingsManager.create()", "SettingsManager.create"],
	[
		"a property that is read",
		`import { SettingsManager } ${REFUSED}`,
		"SettingsManager.defaults",
		"SettingsManager.defaults",
	],
	["a call", `import { createAgentSession } ${REFUSED}`, "createAgentSession({})", "createAgentSession"],
	["an alias", `import { createAgentSession as make } ${REFUSED}`, "make({})", "createAgentSession"],
	["new", `import { DefaultResourceLoader } ${REFUSED}`, "new DefaultResourceLoader()", "new DefaultResourceLoader"],
	[
		"a subclass",
		`import { ModelRegistry } ${REFUSED}\nclass Mine extends ModelRegistry {}`,
		"new Mine()",
		"new ModelRegistry",
	],
	[
		"a static member of a subclass",
		`import { ModelRegistry } ${REFUSED}\nclass Mine extends ModelRegistry {}`,
		"Mine.create()",
		"ModelRegistry.create",
	],
	[
		"destructuring",
		`import { SessionManager } ${REFUSED}`,
		"(({ create }) => create())(SessionManager)",
		"SessionManager.create",
	],
	["a namespace", `import * as agent ${REFUSED}`, "agent.SessionManager.create()", "SessionManager.create"],
	[
		"a destructured namespace",
		`import * as agent ${REFUSED}`,
		"(({ SessionManager }) => new SessionManager())(agent)",
		"new SessionManager",
	],
	["a default import", `import agent ${REFUSED}`, "agent.SessionManager.create()", "SessionManager.create"],
	[
		"a dynamic import",
		"",
		'import("@earendil-works/pi-coding-agent").then(({ SessionManager }) => SessionManager.create())',
		"SessionManager.create",
	],
	[
		"another export",
		`export { SessionManager } ${REFUSED}`,
		'import("./mine.ts").then(({ SessionManager }) => SessionManager.create())',
		"SessionManager.create",
	],
	[
		"setting a member",
		`import { SettingsManager } ${REFUSED}`,
		"(SettingsManager.current = {})",
		"SettingsManager.current",
	],
	[
		"instanceof and typeof",
		`import { SettingsManager } ${REFUSED}`,
		"SettingsManager.prototype.get.call({} instanceof SettingsManager)",
		"SettingsManager.prototype.get",
	],
];

test.each(Object.keys(COMPILERS).flatMap((compiler) => USES.map(([way, ...use]) => [way, compiler, ...use] as const)))(
	"%s of a refused value, in a file that %s compiles, gives the reason",
	async (_, compiler, imports, use, name) => {
		const dir = tempDir();
		symlinkSync(join(PACKAGE_ROOT, "node_modules"), join(dir, "node_modules"));
		writeFiles(dir, {
			"mine.ts": `${imports}
			${COMPILERS[compiler as keyof typeof COMPILERS]}
			export default (pi) => {
				pi.on("session_start", async (event, ctx) => {
					try { await ${use}; } catch (error) { ctx.ui.notify(error.message); }
				});
			};`,
		});
		const t = await createHookTest({ hooks: [], extensions: [`${dir}/mine.ts`] });
		onTestFinished(() => t.dispose());
		const [, value = ""] = /(\w+)(?:\.|$)/.exec(name.replace("new ", "")) ?? [];
		const full = name.replace(value, `@earendil-works/pi-coding-agent.${value}`);
		expect([...t.errors, ...t.notices]).toEqual([`${full} is not available in pi: ${REFUSED_VALUES.get(value)}`]);
	},
);
