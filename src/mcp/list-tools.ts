import {
	type Client,
	type RequestOptions,
	SdkError,
	SdkErrorCode,
	type StandardSchemaV1,
	type Tool,
} from "@modelcontextprotocol/client";
import { isRecord } from "../util/is-record.js";

/** Maximum number of pages of a list that the client does not read itself. */
const MAX_PAGES = 64;

interface ToolPage {
	tools: unknown[];
	nextCursor?: unknown;
}

/** Accepts every list. The client refuses a complete list because of one malformed tool. */
const ANY_TOOLS: StandardSchemaV1<unknown, ToolPage> = {
	"~standard": {
		version: 1,
		vendor: "pi",
		validate: (value) => (isToolPage(value) ? { value } : { issues: [{ message: "not a list of tools" }] }),
	},
};

/** Lists the tools of a server. If one is malformed, all are as the server sent them: `createMcpTool` checks each. */
export async function listTools(client: Client, options: RequestOptions): Promise<readonly Tool[]> {
	try {
		return (await client.listTools(undefined, { ...options, cacheMode: "refresh" })).tools;
	} catch (error) {
		if (!(error instanceof SdkError) || error.code !== SdkErrorCode.InvalidResult) throw error;
	}
	const tools: unknown[] = [];
	let cursor: string | undefined;
	for (let page = 0; page < MAX_PAGES; page++) {
		const params = cursor === undefined ? {} : { cursor };
		const { tools: more, nextCursor } = await client.request({ method: "tools/list", params }, ANY_TOOLS, options);
		tools.push(...more);
		if (typeof nextCursor !== "string" || nextCursor === cursor) break;
		cursor = nextCursor;
	}
	return tools.map((tool) => (isRecord(tool) ? tool : {}) as Tool);
}

function isToolPage(value: unknown): value is ToolPage {
	return isRecord(value) && Array.isArray(value.tools);
}
