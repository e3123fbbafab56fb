/** Batches questions: those asked while a batch runs go into the next one, of at most `most`. A failed batch rejects all its questions. */
export function gather<Q, A>(most: number, answer: (questions: readonly Q[]) => Promise<readonly A[]>): (question: Q) => Promise<A> {
  let waiting: { question: Q; resolve: (answer: A) => void; reject: (error: unknown) => void }[] = [];
  let going = false;

  async function go(): Promise<void> {
    going = true;
    // Questions of the same turn of the event loop share the first batch.
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    while (waiting.length > 0) {
      const now = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const answers = await answer(now.map(({ question }) => question));
        now.forEach(({ resolve, reject }, at) => {
          if (at in answers) resolve(answers[at] as A);
          else reject(new Error('a question was left without an answer'));
        });
      } catch (error) {
        for (const { reject } of now) reject(error);
      }
    }
    going = false;
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (!going) void go();
    });
}
