/**
 * One workload in a process of its own; what it says goes to standard output as JSON. `measure`
 * gives its result; `once` does the work a single time and gives the peak of the process's memory.
 */
import { resultOf, type Workload } from './workload.ts';
import { workloads } from './workloads.ts';

const [mode, id, directory = ''] = process.argv.slice(2);
const workload = workloads.find((each) => each.id === id);
if (workload === undefined) throw new Error(`there is no workload ${id}`);
const said = mode === 'once' ? await peakOf(workload) : await measured(workload);
process.stdout.write(JSON.stringify(said));

async function measured(chosen: Workload) {
  return resultOf(chosen, await chosen.measure(directory));
}

async function peakOf(chosen: Workload) {
  await chosen.once(directory);
  // Kilobytes on every system that Node runs on.
  return { peakRssMb: process.resourceUsage().maxRSS / 1024 };
}
