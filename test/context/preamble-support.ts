import type { ContextStage } from "../../src/context/build-context.js";
import type { CorePreamble } from "../../src/context/preamble.js";
import type { PromptSection, ToolInfo } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { buildPromptSections, sectionsForTools } from "../../src/resources/system-prompt.js";

/** A tool without arguments. */
export function tool(name: string, description = `Runs ${name}.`): ToolInfo {
	return freezeDeep({ name, description, parameters: { type: "object", properties: {} } });
}

/** System prompt and tools of a project with instructions and a skill. */
export function core(names = ["read", "bash", "edit"], instructions = "Use tabs."): CorePreamble {
	const tools = Object.freeze(names.map((name) => tool(name)));
	const sections = freezeDeep(
		buildPromptSections({
			host: { name: "", cwd: "/work/shop", platform: "linux" },
			date: "2026-11-20",
			tools,
			contextFiles: [{ path: "/a/AGENTS.md", content: instructions }],
			skills: [{ name: "pdf", description: "Read PDFs", path: "/s/pdf/SKILL.md" }],
		}),
	);
	return { sections, tools, generate: (offered) => sectionsForTools(sections, offered) };
}

/** A stage of the hook `/hooks/<name>.ts`. */
export function stage(
	name: string,
	answer: (systemPrompt: readonly PromptSection[], tools: readonly ToolInfo[]) => unknown,
): ContextStage {
	const transform: ContextStage["transform"] = async (_, { systemPrompt, tools }) => answer(systemPrompt, tools);
	return { hook: `/hooks/${name}.ts`, name, transform };
}
