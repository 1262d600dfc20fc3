// Floor for showing an editor: Node, pi-tui, one Editor. Ctrl+D exits.
import { Editor, ProcessTerminal, TuiMainScreen } from "@mariozechner/pi-tui";

const plain = (text) => text;
const tui = new TuiMainScreen(new ProcessTerminal());
const selectList = { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain };
const editor = new Editor(tui, { borderColor: plain, selectList });
tui.addChild(editor);
tui.setFocus(editor);
tui.addInputListener((data) => {
	if (data !== "\x04") return undefined;
	tui.stop();
	process.exit(0);
});
tui.start();
