import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseContainer, parsePod } from "../../hooks-examples/containers.js";
import { parseTarget } from "../../hooks-examples/ssh.js";
import { HELP_TEXT } from "../../src/cli/help.js";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { readMachineSpec } from "../../src/hooks/open-machine.js";

const page = readFileSync(new URL("../../docs/hosts.md", import.meta.url), "utf8");
const specs = [...page.matchAll(/^pi --on (\S+)/gm)].flatMap(([, text = ""]) => readMachineSpec(text) ?? []);

test("every bundled scheme has an example", () => {
	const schemes = BUNDLED_HOOKS.flatMap((hook) => hook.hosts ?? []);
	for (const scheme of ["ssh", "docker", "podman", "kubectl"]) {
		expect(schemes).toContain(scheme);
		expect(specs.some((spec) => spec.scheme === scheme)).toBe(true);
	}
});

test.each(specs.filter(({ scheme }) => ["ssh", "docker", "podman", "kubectl"].includes(scheme)))(
	"the example $text names a host",
	({ scheme, rest }) => {
		if (scheme === "ssh") expect(parseTarget(rest).host).toMatch(/^[\w-]+$/);
		else if (scheme === "kubectl") expect(parsePod(rest)[0]?.name).toMatch(/^kubectl [\w/:-]+$/);
		else expect(parseContainer(scheme === "docker" ? "docker" : "podman", rest).name).toMatch(/^\w+ [\w-]+$/);
	},
);

test("--help, the setting on and docs/hosts.md name each scheme of a bundled hook, and local", () => {
	const schemes = BUNDLED_HOOKS.flatMap(({ hosts = [] }) => hosts.map((scheme) => `${scheme}:`));
	const settings = readFileSync(new URL("../../docs/usage.md", import.meta.url), "utf8").split("\n");
	const texts = {
		help: /--on <spec>[\s\S]*?\n\nOther/.exec(HELP_TEXT)?.[0],
		setting: settings.find((line) => line.startsWith("| `on` |")),
		page: page.split("\n## ")[0],
	};
	for (const [name, text] of Object.entries(texts)) {
		for (const word of [...schemes, "local"]) expect(text, name).toContain(word);
		expect(text, name).toMatch(/overrides (the setting|both|it)/);
	}
});
