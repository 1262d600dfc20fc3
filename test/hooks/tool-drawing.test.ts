import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { startPlain } from "../modes/plain/start-plain.js";

const TODO = `export default (pi) => pi.tool({
	name: "todo", description: "Keeps a list", parameters: { type: "object" },
	run: async ({ add }) => ({ content: [{ type: "text", text: "Saved." }], details: { add } }),
	renderCall: ({ add }, theme) => theme.bold("list") + " + \\u001b[2J<" + add + ">",
	renderResult: ({ details: { add } }, theme) => {
		if (add === "bad") throw new Error("no <ink>");
		return { render: (width) => [theme.dim("○ ") + add, String(width)], invalidate() {} };
	},
});`;
const CALLS = ["tea", "bad"].map((add) => toolCall("todo", { add }));

test("plain mode prints the text of a drawn call, and reports a failure with its hook", async () => {
	const plain = await startPlain({ hooks: { "todo.ts": TODO } });
	plain.provider.reply(CALLS, "Done.");
	await plain.until("> ");
	plain.enter("go");
	await plain.until("pi: Done.");
	const printed = plain.text().replace(/done in [\d.]+ m?s/g, "done");
	expect(printed).toContain("running list + ␛[2J<tea>\ndone\n  ○ tea\n  80\n");
	expect(printed).toContain(
		"running list + ␛[2J<bad>\ndone\nError: Hook todo.ts:6:28 failed on renderResult: no <ink>\n  Saved.\n",
	);
	expect(plain.text()).not.toContain("\u001b");
});

test("the HTML export contains the text of a drawn call, escaped, and names a hook that failed", async () => {
	const { session, provider, cwd } = await startSession({ hooks: { "todo.ts": TODO } });
	provider.reply(CALLS, "Done.");
	await session.prompt("go");
	await session.prompt("/export out.html");
	const html = readFileSync(join(cwd, "out.html"), "utf8");
	expect(html).toContain("<summary>list + ␛[2J&lt;tea&gt;</summary>");
	expect(html).toContain("○ tea\n80");
	expect(html).toContain(
		'<code>Saved.</code></pre><p class="error">Hook todo.ts:6:28 failed on renderResult: no &lt;ink&gt;</p>',
	);
	expect(html).not.toContain("\u001b");
});
