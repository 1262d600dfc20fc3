import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { png } from "../../helpers/images.js";
import { startSession } from "../../helpers/session.js";

const KEY = "gsk_0123456789abcdef";

test("/debug writes versions, settings, hooks and the last request, with every known key redacted", async () => {
	const { session, provider, agentDir } = await startSession({
		userSettings: { theme: "light", apiKeys: { groq: KEY } },
		hooks: { "quiet.ts": "export default (pi) => pi.on('turn_end', () => {});" },
	});
	provider.reply(`it begins with ${KEY}`, "the second reply");
	await session.prompt(`my key is ${KEY}`);
	await session.prompt("and now?");
	const outcome = await session.prompt("/debug");
	const status = outcome.kind === "command" ? (outcome.status ?? "") : "";
	const [, path = ""] =
		/^Wrote (\S+\.txt) · it contains your conversation; only keys that pi uses are replaced/.exec(status) ?? [];
	expect(path.startsWith(`${agentDir}/debug/`)).toBe(true);
	expect(statSync(path).mode & 0o777).toBe(0o600);
	const report = readFileSync(path, "utf8");
	expect(report).not.toContain(KEY);
	const found = [
		/^pi \d+\.\d+\.\d+ in /m,
		/^node v\S+ on \w+ \w+$/m,
		/^model loopback\/scripted \(openai-completions\), thinking medium$/m,
		/^tools read, bash, edit, write, grep, find, ls, jobs$/m,
		/^theme: light \(user\)$/m,
		/^apiKeys: 1 entry \(user\)$/m,
		/^quiet +global/m,
		/^3 messages$/m,
		/it begins with ‹key›/,
		/and now\?/,
	].filter((pattern) => !pattern.test(report));
	expect(found).toEqual([]);
	expect(report).not.toContain("the second reply");
});

test("the report contains only the length of binary data such as images", async () => {
	const { session, provider } = await startSession({ modelOptions: { input: ["text", "image"] } });
	const { data, mimeType } = png(60, 50);
	provider.reply("a picture");
	await session.send("look", { images: [{ type: "image", mimeType, data }] });
	const outcome = await session.prompt("/debug");
	const [, path = ""] = /^Wrote (\S+)/.exec(outcome.kind === "command" ? (outcome.status ?? "") : "") ?? [];
	const report = readFileSync(path, "utf8");
	expect(report).toContain(`(${data.length} characters)`);
	expect(report).not.toContain(data);
});
