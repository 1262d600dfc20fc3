// Floor for a reply on the screen: the editor of pi-tui, above it the reply as one Markdown component that gets the complete text with
// each part; with a second argument, only once, when it is complete. pi-ai sends the request and reads the parts. Enter sends,
// Ctrl+D exits.
import { streamSimple } from "@mariozechner/pi-ai/compat";
import { Editor, Markdown, ProcessTerminal, TuiMainScreen } from "@mariozechner/pi-tui";

const [url, once] = process.argv.slice(2);
const model = {
	id: "scripted",
	name: "scripted",
	provider: "bench",
	api: "anthropic-messages",
	baseUrl: url,
	reasoning: false,
	input: ["text"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 100_000_000,
	maxTokens: 4096,
};
const plain = (text) => text;
const styles = ["heading", "link", "linkUrl", "code", "codeBlock", "codeBlockBorder", "quote", "quoteBorder", "hr", "listBullet"];
const markdown = Object.fromEntries([...styles, "bold", "italic", "strikethrough", "underline"].map((style) => [style, plain]));
const selectList = { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain };
const tui = new TuiMainScreen(new ProcessTerminal());
const reply = new Markdown("", 0, 0, markdown);
const editor = new Editor(tui, { borderColor: plain, selectList });
editor.onSubmit = async (prompt) => {
	let text = "";
	const draw = () => {
		reply.setText(text);
		tui.requestRender();
	};
	const messages = [{ role: "user", content: prompt, timestamp: Date.now() }];
	for await (const event of streamSimple(model, { messages }, { apiKey: "key" })) {
		if (event.type !== "text_delta") continue;
		text += event.delta;
		if (!once) draw();
	}
	draw();
};
tui.addChild(reply);
tui.addChild(editor);
tui.setFocus(editor);
tui.addInputListener((data) => {
	if (data !== "\x04") return undefined;
	tui.stop();
	process.exit(0);
});
tui.start();
