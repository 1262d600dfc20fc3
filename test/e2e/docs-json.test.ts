import { spawn } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { splitArgs } from "../../src/util/split-args.js";
import { type LoopbackProvider, startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { missingPrograms } from "../helpers/programs.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const page = readFileSync(new URL("../../docs/json.md", import.meta.url), "utf8");
const blocks = (language: string) =>
	[...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, body = ""]) => body);

/** A provider that reads a.txt when asked for it, and refuses "fail". */
async function startScripted(): Promise<LoopbackProvider> {
	const provider = await startProvider();
	return provider.on(({ messages }) => {
		const last = messages.at(-1);
		if (last?.role !== "user") return last?.text.includes("Buy milk.") ? "It says: buy milk." : "Sorry.";
		if (last.text === "fail") return { fault: { kind: "http", status: 400, message: "no such thing" } };
		if (last.text.includes("missing")) return [toolCall("read", { path: "missing.txt" })];
		if (last.text.includes("a.txt")) return [text("Let me see."), toolCall("read", { path: "a.txt" }, "call_1")];
		return "Hello.";
	});
}

test.each(blocks("jsonl").map((block) => [block.split("\n")[0] ?? "", block]))("%s", async (command, block) => {
	const [, ...expected] = block.trimEnd().split("\n");
	const cwd = tempDir();
	writeFiles(cwd, { "a.txt": "Buy milk." });
	const run = await runPi(splitArgs(command.replace("$ pi ", "")), {
		agentDir: agentDirFor(await startScripted()),
		cwd,
	});
	const printed = run.stdout
		.trimEnd()
		.split("\n")
		.map((line): unknown => JSON.parse(line));
	for (const line of expected) {
		const wanted = JSON.parse(line.replace("lab/big", "loopback/scripted"));
		if (wanted.type === "session") wanted.cwd = cwd;
		const at = printed.findIndex((event) => {
			try {
				expect(event).toMatchObject(wanted);
				return true;
			} catch {
				return false;
			}
		});
		if (at < 0)
			throw new Error(`No line such as ${line} among\n${printed.map((event) => JSON.stringify(event)).join("\n")}`);
		printed.splice(0, at + 1);
	}
});

const NO_JQ = missingPrograms("the recipes with jq", { jq: "jq" });

test.skipIf(NO_JQ !== undefined)("the recipes with jq print what they promise", async () => {
	const agentDir = agentDirFor(await startScripted());
	const outputs = [];
	for (const recipe of blocks("sh")) {
		const bin = tempDir();
		writeFiles(bin, { pi: `#!/bin/sh\nexec "${process.execPath}" "${piProgram()}" "$@"\n` });
		chmodSync(join(bin, "pi"), 0o755);
		const { cwd, env } = piPlace({ agentDir });
		const prompt = outputs.length === 0 ? "hi" : "read missing";
		const child = spawn("sh", ["-c", recipe.replace('"hi"', `"${prompt}"`)], {
			cwd,
			env: { ...env, PATH: `${bin}:${process.env.PATH}` },
			stdio: ["ignore", "pipe", "ignore"],
		});
		let stdout = "";
		child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
			stdout += chunk;
		});
		await new Promise((resolve) => child.once("close", resolve));
		outputs.push(stdout);
	}
	expect(outputs).toEqual(["Hello.\n", expect.stringMatching(/^\["read","[^\n]*missing\.txt[^\n]*"\]\n$/)]);
});
