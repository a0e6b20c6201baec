// The jobs that a page knew when it was left, for the next page of the same tab: it is told what has changed since then.
import { facts, namespace } from "./facts.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */

const key = ["jobs", facts.root, namespace, facts.user].join(" ");

/** Keeps jobs, if they are not too many for the browser. @param {string} place the id of the last event @param {Iterable<JobInfo>} jobs */
export function keepJobs(place, jobs) {
  /** @type {Map<string, number>} */
  const shapes = new Map(); // the fields of many jobs are the same: their names are kept once
  const rows = [];
  for (const job of jobs) {
    const shape = Object.keys(job).join();
    if (!shapes.has(shape)) shapes.set(shape, shapes.size);
    rows.push([shapes.get(shape), ...Object.values(job)]);
  }
  try {
    sessionStorage.setItem(key, JSON.stringify({ place, shapes: [...shapes.keys()], rows }));
  } catch {
    sessionStorage.removeItem(key);
  }
}

/** The jobs that were kept, and the place; undefined if there are none. @returns {{place: string, jobs: Map<string, JobInfo>} | undefined} */
export function keptJobs() {
  const text = sessionStorage.getItem(key);
  if (!text) return undefined;
  const { place, shapes, rows } = JSON.parse(text);
  const fields = shapes.map((/** @type {string} */ s) => s.split(","));
  const jobs = rows.map((/** @type {any[]} */ [shape, ...values]) => Object.fromEntries(fields[shape].map((/** @type {string} */ name, /** @type {number} */ i) => [name, values[i]])));
  return { place, jobs: new Map(jobs.map((/** @type {JobInfo} */ j) => [j.name, j])) };
}
