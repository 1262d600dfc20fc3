import { expect, test } from "vitest";
import { imageRefusal } from "../../src/images/image-refusals.js";

test.each([
	[
		"Anthropic",
		"400 messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6938220 bytes > 5242880 bytes",
		"image",
	],
	[
		"Anthropic",
		"400 messages.7.content.3.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
		"image",
	],
	[
		"Anthropic",
		"400 messages.88.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
		"total",
	],
	["Anthropic", "400 Could not process image", "image"],
	[
		"Anthropic",
		"400 messages.0.content.1.image.source.base64.data: The image was specified using the image/png media type, but the image appears to be a image/jpeg image",
		"image",
	],
	["Anthropic", "400 Too much media: 0 document pages + 101 images > 100", "total"],
	[
		"Anthropic",
		'413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
		"total",
	],
	[
		"OpenAI",
		"400 You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
		"image",
	],
	[
		"OpenAI",
		"400 The image data you provided does not represent a valid image. Please check your input and try again.",
		"image",
	],
	["OpenAI", "400 Invalid content type. image_url is only supported by certain models.", "image"],
	[
		"Google",
		"400 Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
		"image",
	],
	["Google", "400 Unsupported MIME type: image/gif", "image"],
	["Google", "400 Request payload size exceeds the limit: 20971520 bytes.", "total"],
	["Bedrock", "ValidationException: The provided image does not match the specified image format", "image"],
	["Bedrock", "ValidationException: too many images and documents: 21 + 0 > 20", "total"],
	["Mistral", "400 Image content must be a URL (starting with 'https') or base64 encoded image", "image"],
	["Mistral", "400 Total number of images 9 exceeds the maximum of 8", "total"],
	["OpenRouter", "404 No endpoints found that support image input", "image"],
	[
		"llama.cpp",
		"500 image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
		"image",
	],
	["llama.cpp", '500 Failed to parse messages: Unsupported content part type: "image_url"', "image"],
	["vLLM", "400 At most 1 image(s) may be provided in one request.", "total"],
	["vLLM", "400 qwen3 is not a multimodal model", "image"],
	["LM Studio", "400 Vision add-on is not loaded, but images were provided for processing", "image"],
	[
		"DeepSeek",
		"400 Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`",
		"image",
	],
	["a text-only server", "400 messages.1.content must be a string", "image"],
] as const)("%s: %s", (_provider, text, refusal) => {
	expect(imageRefusal(text)).toBe(refusal);
});

test.each([
	"400 prompt is too long: 213462 tokens > 200000 maximum",
	"401 invalid x-api-key",
	"402 images need credit",
	"429 Rate limit reached for images per minute",
	"529 Overloaded",
	"400 temperature must be between 0 and 1",
	"the connection was lost during the reply",
])("not because of an image: %s", (text) => {
	expect(imageRefusal(text)).toBeNull();
});
