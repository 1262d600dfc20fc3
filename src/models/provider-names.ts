/** Names of the providers as their makers write them; pi-ai only has ids. */
const NAMES: Readonly<Record<string, string>> = {
	"amazon-bedrock": "Amazon Bedrock",
	anthropic: "Anthropic",
	"azure-openai-responses": "Azure OpenAI",
	cerebras: "Cerebras",
	"cloudflare-ai-gateway": "Cloudflare AI Gateway",
	"cloudflare-workers-ai": "Cloudflare Workers AI",
	deepseek: "DeepSeek",
	fireworks: "Fireworks",
	"github-copilot": "GitHub Copilot",
	google: "Google",
	"google-vertex": "Google Vertex AI",
	groq: "Groq",
	huggingface: "Hugging Face",
	"kimi-coding": "Kimi For Coding",
	minimax: "MiniMax",
	"minimax-cn": "MiniMax (China)",
	mistral: "Mistral",
	moonshotai: "Moonshot AI",
	"moonshotai-cn": "Moonshot AI (China)",
	openai: "OpenAI",
	"openai-codex": "ChatGPT (Codex)",
	opencode: "OpenCode Zen",
	"opencode-go": "OpenCode Go",
	openrouter: "OpenRouter",
	"vercel-ai-gateway": "Vercel AI Gateway",
	xai: "xAI",
	xiaomi: "Xiaomi",
	"xiaomi-token-plan-ams": "Xiaomi Token Plan (Amsterdam)",
	"xiaomi-token-plan-cn": "Xiaomi Token Plan (China)",
	"xiaomi-token-plan-sgp": "Xiaomi Token Plan (Singapore)",
	zai: "Z.AI",
};

/** A provider's name for the user; its id if it is the user's own. */
export function providerName(id: string): string {
	return Object.hasOwn(NAMES, id) ? (NAMES[id] ?? id) : id;
}
