import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { environmentProviders, findEnvironmentKey, keyVariables, variablesHint } from "../../src/models/env-keys.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

test("keyVariables returns the variables that pi-ai reads, for each of its providers", () => {
	const script = `
		import("@mariozechner/pi-ai/compat").then(({ getProviders, findEnvKeys }) =>
			console.log(JSON.stringify(getProviders().map((name) => [name, findEnvKeys(name) ?? []]))));`;
	const names = environmentProviders().flatMap(keyVariables);
	const env = { PATH: "/usr/bin:/bin", ...Object.fromEntries(names.map((name) => [name, "x"])) };
	const answer: [string, string[]][] = JSON.parse(
		execFileSync(process.execPath, ["-e", script], { env, encoding: "utf8" }),
	);
	const ours = answer.map(([provider]) => [provider, keyVariables(provider)]);
	// The tokens of other programs, which Anthropic accepts only in another header.
	const theirs = answer.map(([provider, found]) => [provider, found.filter((name) => name !== "ANTHROPIC_AUTH_TOKEN")]);
	expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
});

test("the first variable that is set is used", () => {
	const env = { ANTHROPIC_OAUTH_TOKEN: "", ANTHROPIC_API_KEY: " key " };
	expect(findEnvironmentKey("anthropic", env, "/")).toEqual({ key: "key", source: "ANTHROPIC_API_KEY" });
	expect(findEnvironmentKey("nobody", env, "/")).toBeUndefined();
	expect(findEnvironmentKey("constructor", env, "/")).toBeUndefined();
});

test("credentials of the AWS and Google tools are detected", () => {
	const home = tempDir();
	expect(findEnvironmentKey("amazon-bedrock", { AWS_ACCESS_KEY_ID: "a" }, home)).toBeUndefined();
	expect(findEnvironmentKey("amazon-bedrock", { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" }, home)).toEqual({
		key: "<authenticated>",
		source: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	});
	const google = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "l" };
	expect(findEnvironmentKey("google-vertex", google, home)).toBeUndefined();
	writeFiles(home, { ".config/gcloud/application_default_credentials.json": {} });
	expect(findEnvironmentKey("google-vertex", google, home)).toEqual({ key: "<authenticated>", source: "gcloud" });
});

test("variablesHint names the variables to set", () => {
	expect(variablesHint("anthropic")).toBe("set ANTHROPIC_API_KEY or ANTHROPIC_OAUTH_TOKEN");
	expect(variablesHint("amazon-bedrock")).toBe("set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
	expect(variablesHint("openai-codex")).toBeUndefined();
});

test("search engines have keys, too", () => {
	const env = { BRAVE_API_KEY: "b", TAVILY_API_KEY: "t", EXA_API_KEY: "e" };
	const found = ["brave", "tavily", "exa"].map((engine) => findEnvironmentKey(engine, env, "/")?.key);
	expect(found).toEqual(["b", "t", "e"]);
});
