// The texts of a page: the server has put those into the document that the page's modules name.
import { facts } from "./facts.js";

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/**
 * A text with its values: {name} is a value, {name#one|other} a word that depends on a number. Numbers are
 * written as the language does.
 * @param {import("./types/words").Word} key
 * @param {Record<string, string | number>} [values]
 */
export function w(key, values = {}) {
  return fill(words[key] ?? key, values);
}

/**
 * What a word of the API is called, such as a status: itself if there is no text for it, as one of a later version.
 * @param {string} file @param {string | undefined} word
 */
export function term(file, word) {
  if (word === undefined || word === "") return "";
  return words[`${file}.${word}`] ?? word;
}

/** Whether there is a text for a word of the API. @param {string} file @param {string} word */
export function has(file, word) {
  return `${file}.${word}` in words;
}

/**
 * All words of a kind that have a text, by their texts.
 * @param {string} file @returns {[string, string][]} words and texts
 */
export function terms(file) {
  const found = Object.entries(words).filter(([key]) => key.startsWith(file + "."));
  return found.map(([key, text]) => /** @type {[string, string]} */ ([key.slice(file.length + 1), text])).sort((a, b) => a[1].localeCompare(b[1], facts.language));
}

/** @param {string} text @param {Record<string, string | number>} values */
function fill(text, values) {
  return text.replace(/\{(\w+)(?:#([^|}]*)\|([^}]*))?\}/g, (all, name, one, other) => {
    const value = values[name];
    if (value === undefined) return all;
    if (one !== undefined) return value === 1 ? one : other;
    return typeof value === "number" ? number(value) : value;
  });
}

const numbers = new Intl.NumberFormat(facts.language);

/** A number as the language writes it. @param {number} n */
export function number(n) {
  return numbers.format(n);
}
