// Floor for showing a long answer: lays out each block once. Reads the text from a file.
import { readFileSync } from "node:fs";
import { Markdown } from "@mariozechner/pi-tui";

const plain = (text) => text;
const styles = ["heading", "link", "linkUrl", "code", "codeBlock", "codeBlockBorder", "quote", "quoteBorder", "hr", "listBullet", "bold", "italic", "strikethrough", "underline"];
const theme = Object.fromEntries(styles.map((name) => [name, plain]));
let lines = 0;
for (const block of readFileSync(process.argv[2], "utf8").split(/^(?=## )/m)) {
	lines += new Markdown(block, 1, 0, theme).render(120).length;
}
process.stdout.write(`${lines} lines\n`);
