import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../config/paths.js";

/** The key that pi-ai expects if the provider's own tools hold the credentials. */
export const AMBIENT_KEY = "<authenticated>";

/** Environment variables of a provider's key; the first one that is set is used. Those of models are pi-ai's. */
const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
	"ant-ling": ["ANT_LING_API_KEY"],
	anthropic: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
	"azure-openai-responses": ["AZURE_OPENAI_API_KEY"],
	baseten: ["BASETEN_API_KEY"],
	cerebras: ["CEREBRAS_API_KEY"],
	"cloudflare-ai-gateway": ["CLOUDFLARE_API_KEY"],
	"cloudflare-workers-ai": ["CLOUDFLARE_API_KEY"],
	deepseek: ["DEEPSEEK_API_KEY"],
	fireworks: ["FIREWORKS_API_KEY"],
	"github-copilot": ["COPILOT_GITHUB_TOKEN"],
	google: ["GEMINI_API_KEY"],
	"google-vertex": ["GOOGLE_CLOUD_API_KEY"],
	groq: ["GROQ_API_KEY"],
	huggingface: ["HF_TOKEN"],
	"kimi-coding": ["KIMI_API_KEY"],
	meta: ["META_API_KEY"],
	minimax: ["MINIMAX_API_KEY"],
	"minimax-cn": ["MINIMAX_CN_API_KEY"],
	mistral: ["MISTRAL_API_KEY"],
	moonshotai: ["MOONSHOT_API_KEY"],
	"moonshotai-cn": ["MOONSHOT_API_KEY"],
	nvidia: ["NVIDIA_API_KEY"],
	openai: ["OPENAI_API_KEY"],
	opencode: ["OPENCODE_API_KEY"],
	"opencode-go": ["OPENCODE_API_KEY"],
	openrouter: ["OPENROUTER_API_KEY"],
	"qwen-token-plan": ["QWEN_TOKEN_PLAN_API_KEY"],
	"qwen-token-plan-cn": ["QWEN_TOKEN_PLAN_CN_API_KEY"],
	"qwen-token-plan-individual": ["QWEN_TOKEN_PLAN_API_KEY"],
	radius: ["RADIUS_API_KEY"],
	together: ["TOGETHER_API_KEY"],
	"vercel-ai-gateway": ["AI_GATEWAY_API_KEY"],
	xai: ["XAI_API_KEY"],
	xiaomi: ["XIAOMI_API_KEY"],
	"xiaomi-token-plan-ams": ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"],
	"xiaomi-token-plan-cn": ["XIAOMI_TOKEN_PLAN_CN_API_KEY"],
	"xiaomi-token-plan-sgp": ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"],
	zai: ["ZAI_API_KEY"],
	"zai-coding-cn": ["ZAI_CODING_CN_API_KEY"],
	// Search engines of the bundled hook `web`.
	brave: ["BRAVE_API_KEY"],
	exa: ["EXA_API_KEY"],
	tavily: ["TAVILY_API_KEY"],
};

/** The AWS tools hold credentials if all variables of one of these groups are set. */
const AWS_VARIABLES: readonly (readonly string[])[] = [
	["AWS_PROFILE"],
	["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
	["AWS_BEARER_TOKEN_BEDROCK"],
	["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
	["AWS_CONTAINER_CREDENTIALS_FULL_URI"],
	["AWS_WEB_IDENTITY_TOKEN_FILE"],
];

/** A key from the environment and its source. */
export interface EnvironmentKey {
	key: string;
	/** A variable, or the tool that holds the credentials. */
	source: string;
}

/** Names of the variables that can contain a provider's key. */
export function keyVariables(provider: string): readonly string[] {
	return Object.hasOwn(KEY_VARIABLES, provider) ? (KEY_VARIABLES[provider] ?? []) : [];
}

/** Providers whose key can come from the environment. */
export function environmentProviders(): string[] {
	return [...Object.keys(KEY_VARIABLES), "amazon-bedrock"];
}

/** A provider's key in the environment. */
export function findEnvironmentKey(provider: string, env: Environment, home: string): EnvironmentKey | undefined {
	for (const name of keyVariables(provider)) {
		const key = env[name]?.trim();
		if (key) return { key, source: name };
	}
	if (provider === "amazon-bedrock") {
		const group = AWS_VARIABLES.find((names) => names.every((name) => env[name]));
		return group && { key: AMBIENT_KEY, source: group.join(" and ") };
	}
	if (provider === "google-vertex" && hasGoogleLogin(env, home)) return { key: AMBIENT_KEY, source: "gcloud" };
	return undefined;
}

/** A clause that names the variables to set for a provider; undefined if it has none. */
export function variablesHint(provider: string): string | undefined {
	if (provider === "amazon-bedrock") return "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
	// API keys first: users cannot create the tokens of a login.
	const names = [...keyVariables(provider)].sort(
		(a, b) => Number(b.endsWith("_API_KEY")) - Number(a.endsWith("_API_KEY")),
	);
	if (names.length === 0) return undefined;
	const login = provider === "google-vertex" ? ", or run gcloud auth application-default login" : "";
	return `set ${names.join(" or ")}${login}`;
}

function hasGoogleLogin(env: Environment, home: string): boolean {
	if (!(env.GOOGLE_CLOUD_PROJECT || env.GCLOUD_PROJECT) || !env.GOOGLE_CLOUD_LOCATION) return false;
	const file =
		env.GOOGLE_APPLICATION_CREDENTIALS || join(home, ".config", "gcloud", "application_default_credentials.json");
	return existsSync(file);
}
