// SPDX-License-Identifier: GPL-2.0-only
/*
 * gate_chance.c - how often prohist --fail-over gives a wrong verdict
 *
 * Draws pairs of runs by the schedule of the module, with fixed seeds, so that
 * every run of the test has the same result, and prints the verdicts as a
 * table. A wrong verdict has a probability of at most GATE_LEVEL, 0.05. The
 * bounds are those that a correct gate exceeds in one of 1000 tests.
 */
#include "kselftest_harness.h"

#include <math.h>

#include <prohist/gate.h>

#include "sampler.h"

#define PAIRS		1000

/* Of PAIRS with the probability 0.05: the mean, and 3.09 standard deviations */
#define AT_MOST		71

#define THRESHOLD	0.02

/* Runs of a side */
#define RUNS_MOST	10

static const struct sampler_rhythm rhythms[] = {
	{ "short calls", 61803, 0, 0 },
	{ "in step with the clock", SAMPLER_PERIOD, 0, 0 },
	{ "long phases", 37300000, 0, 0 },
	{ "shares the CPU", 61803, 300000, 450000 },
};

#define NR_RHYTHMS	(sizeof(rhythms) / sizeof(rhythms[0]))

/**
 * struct pair - runs before and after
 * @ticks: ticks that fall into the CPU time of a run, on average
 * @nr: number of functions
 * @dso: how many of them, from the first, are a DSO
 * @before: CPU time of the functions before; the sum is 1
 * @after: the same for after
 * @growth: growth of the CPU time of a run, relative to before
 * @runs: number of runs before, and after; 0 is one
 * @vary: standard deviation of the CPU time between runs, relative to its mean
 */
struct pair {
	int ticks;
	int nr;
	int dso;
	double before[SAMPLER_MOST];
	double after[SAMPLER_MOST];
	double growth;
	int runs;
	double vary;
};

/**
 * struct drawn - runs as prohist reads them, with the DSO as a further part
 * @gate: the gate
 * @cpu_ns: CPU time of each run
 * @ticks: ticks of each part, before and after
 * @times: CPU time of each part in each run
 */
struct drawn {
	struct gate gate;
	double cpu_ns[2 * RUNS_MOST];
	double ticks[SAMPLER_MOST + 1][2];
	double times[SAMPLER_MOST + 1][2 * RUNS_MOST];
};

/* A number with the standard normal distribution, by Box and Muller. */
static double normal(u64 *state)
{
	double a = (number_below(state, 1 << 30) + 1.0) / (1 << 30);
	double b = number_below(state, 1 << 30) / (double)(1 << 30);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

static void add_part(struct drawn *drawn, int part, int run, uint64_t ticks,
		     double ns)
{
	drawn->ticks[part][run >= (int)drawn->gate.sides[0].nr] += ticks;
	drawn->times[part][run] += ns;
}

static void draw_run(struct drawn *drawn, const struct pair *pair,
		     const struct sampler_rhythm *rhythm, int run, u64 *state)
{
	struct gate_side *side = &drawn->gate.sides[run >= (pair->runs ?: 1)];
	const double *times = side == drawn->gate.sides ? pair->before :
		pair->after;
	double cpu_ns = (double)pair->ticks * SAMPLER_PERIOD, ns;
	uint64_t ticks[SAMPLER_MOST];
	u64 all;
	int i;

	if (times == pair->after)
		cpu_ns *= 1 + pair->growth;
	if (pair->vary)
		cpu_ns *= 1 + pair->vary * normal(state);
	all = sampler_run(rhythm, times, pair->nr, cpu_ns, state, ticks);
	drawn->cpu_ns[run] = cpu_ns;
	side->cpu_ns += cpu_ns / side->nr;
	side->covered_ns += cpu_ns / side->nr;
	side->ticks += all;
	for (i = 0; i < pair->nr; i++) {
		ns = cpu_ns * ticks[i] / all;
		add_part(drawn, i, run, ticks[i], ns);
		if (i < pair->dso)
			add_part(drawn, pair->nr, run, ticks[i], ns);
	}
}

/* Draw a pair, and judge it as prohist does. */
static struct gate_growth judge(const struct pair *pair,
				const struct sampler_rhythm *rhythm, u64 *state)
{
	struct drawn drawn = { .gate.threshold = THRESHOLD };
	const double no_time[2 * RUNS_MOST] = {};
	struct gate_growth sum, growth;
	const double none[2] = {};
	int i;

	drawn.gate.cpu_ns = drawn.cpu_ns;
	drawn.gate.sides[0].nr = pair->runs ?: 1;
	drawn.gate.sides[1].nr = pair->runs ?: 1;
	for (i = 0; i < 2 * (pair->runs ?: 1); i++)
		draw_run(&drawn, pair, rhythm, i, state);
	gate_init(&drawn.gate, pair->nr, 1);
	sum = gate_judge(&drawn.gate, none, no_time);
	growth = gate_whole(&drawn.gate);
	sum.verdict = gate_worse(sum.verdict, growth.verdict);
	for (i = 0; i <= pair->nr; i++) {
		growth = gate_judge(&drawn.gate, drawn.ticks[i],
				    drawn.times[i]);
		sum.verdict = gate_worse(sum.verdict, growth.verdict);
		sum.needed = fmax(sum.needed, growth.needed);
	}
	return sum;
}

/* Count the verdicts on PAIRS, and print a row of the table. */
static void judge_all(const char *name, const struct pair *pair,
		      const struct sampler_rhythm *rhythm, int counts[4])
{
	u64 state = 0x67617465;
	int i;

	memset(counts, 0, 4 * sizeof(*counts));
	for (i = 0; i < PAIRS; i++)
		counts[judge(pair, rhythm, &state).verdict]++;
	fprintf(stderr, "# %-28s %-22s %4d %6d  %5d %6d %5d %5d\n", name,
		rhythm->name, pair->runs ?: 1, pair->ticks, counts[GATE_OK],
		counts[GATE_SLOWER], counts[GATE_TOO_FEW],
		counts[GATE_TOO_FEW_RUNS]);
}

TEST(heading)
{
	fprintf(stderr, "# %-28s %-22s %4s %6s  %5s %6s %5s %5s\n",
		"change", "rhythm", "runs", "ticks", "ok", "slower", "few",
		"vary");
}

/* Functions from 31 % down to 0.6 %, unchanged. */
static void make_equal(struct pair *pair, int ticks)
{
	double share = 1, sum = 0;
	int i;

	*pair = (struct pair) { .ticks = ticks, .nr = 12, .dso = 2 };
	for (i = 0; i < pair->nr; i++, share *= 0.7) {
		pair->before[i] = share;
		sum += share;
	}
	for (i = 0; i < pair->nr; i++)
		pair->before[i] /= sum;
	memcpy(pair->after, pair->before, sizeof(pair->after));
}

TEST(equal)
{
	static const int sizes[] = { 50, 500, 2000 };
	int counts[4];
	struct pair pair;
	unsigned int i, j;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_equal(&pair, sizes[i]);
		for (j = 0; j < NR_RHYTHMS; j++) {
			judge_all("none", &pair, &rhythms[j], counts);
			EXPECT_GE(AT_MOST, counts[GATE_SLOWER]);
		}
	}
}

/* @nr functions grow, by at most the threshold, and all others shrink. */
static void grown(struct __test_metadata *_metadata, const char *name,
		  struct pair pair, int nr, double before, double after)
{
	int counts[4], i;

	for (i = 0; i < pair.nr; i++) {
		pair.before[i] = i < nr ? before :
			(1 - nr * before) / (pair.nr - nr);
		pair.after[i] = i < nr ? after :
			(1 - nr * after) / (pair.nr - nr);
	}
	judge_all(name, &pair, &rhythms[0], counts);
	EXPECT_GE(AT_MOST, counts[GATE_SLOWER]);
}

TEST(at_threshold)
{
	const struct pair few = { .ticks = 2000, .nr = 20 };
	const struct pair many = { .ticks = 2000, .nr = 64 };
	const struct pair small = { .ticks = 300, .nr = 64 };

	grown(_metadata, "10 x 4 % to 6 %", few, 10, 0.04, 0.06);
	grown(_metadata, "10 x 0 % to 2 %", few, 10, 0, 0.02);
	grown(_metadata, "45 x 0 % to 2 %", many, 45, 0, 0.02);
	grown(_metadata, "45 x 0 % to 2 %", small, 45, 0, 0.02);
	grown(_metadata, "60 x 0 % to 1.6 %", small, 60, 0, 0.016);
}

/* One function has grown by hardly more than the threshold: this is not ok. */
static void just_above(struct __test_metadata *_metadata, const char *name,
		       int ticks, double share)
{
	double growth = THRESHOLD + 1e-9;
	struct pair pair = {
		.ticks = ticks,
		.nr = 3,
		.before = { share, 0.5, 0.5 - share },
		.after = { share + growth, 0.5, 0.5 - share - growth },
	};
	int counts[4];

	judge_all(name, &pair, &rhythms[0], counts);
	EXPECT_GE(AT_MOST, counts[GATE_OK]);
}

TEST(above_threshold)
{
	just_above(_metadata, "0 % to 2 %", 200, 0);
	just_above(_metadata, "0 % to 2 %", 10000, 0);
	just_above(_metadata, "20 % to 22 %", 10000, 0.2);
	just_above(_metadata, "47 % to 49 %", 20000, 0.47);
}

/* Growth of 5 % is found with the ticks for which prohist promises so. */
TEST(planted)
{
	struct pair pair = {
		.nr = 3,
		.before = { 0.45, 0.3, 0.25 },
		.after = { 0.5, 0.3, 0.2 },
	};
	struct gate gate = {
		.sides = { { 1, 1, 1, 1 }, { 1, 1, 1, 1 } },
		.threshold = THRESHOLD,
	};
	int counts[4];

	gate_init(&gate, pair.nr, 1);
	pair.ticks = ceil(pow((gate_finds(&gate) - THRESHOLD) /
			      (0.05 - THRESHOLD), 2));
	judge_all("45 % to 50 %", &pair, &rhythms[0], counts);
	EXPECT_GE(AT_MOST, PAIRS - counts[GATE_SLOWER]);
}

/* Runs that vary by 5 %. */
static void make_varying(struct pair *pair, int runs, int ticks)
{
	*pair = (struct pair) {
		.ticks = ticks,
		.nr = 3,
		.before = { 0.45, 0.3, 0.25 },
		.after = { 0.45, 0.3, 0.25 },
		.runs = runs,
		.vary = 0.05,
	};
}

TEST(varying)
{
	static const int runs[] = { 2, 5, 10 };
	struct pair pair;
	int counts[4];
	unsigned int i;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		make_varying(&pair, runs[i], 2000);
		judge_all("none, varies", &pair, &rhythms[0], counts);
		EXPECT_GE(AT_MOST, counts[GATE_SLOWER]);
		pair.after[0] += THRESHOLD + 1e-9;
		pair.after[2] -= THRESHOLD + 1e-9;
		judge_all("45 % to 47 %, varies", &pair, &rhythms[0], counts);
		EXPECT_GE(AT_MOST, counts[GATE_OK]);
	}
}

TEST(varying_and_slower)
{
	struct pair pair;
	int counts[4];

	make_varying(&pair, 10, 2000);
	pair.growth = THRESHOLD;
	judge_all("all by 2 %, varies", &pair, &rhythms[0], counts);
	EXPECT_GE(AT_MOST, counts[GATE_SLOWER]);
	EXPECT_GE(AT_MOST, counts[GATE_OK]);
	pair.growth = 0.15;
	judge_all("all by 15 %, varies", &pair, &rhythms[0], counts);
	EXPECT_GE(AT_MOST, PAIRS - counts[GATE_SLOWER]);
}

/* With the ticks that prohist asks for, what has not changed is ok. */
static void enough(struct __test_metadata *_metadata, struct pair *pair)
{
	u64 state = 1;
	int counts[4];

	pair->ticks = judge(pair, &rhythms[0], &state).needed;
	judge_all("none, enough ticks", pair, &rhythms[0], counts);
	EXPECT_GE(AT_MOST, PAIRS - counts[GATE_OK]);
}

TEST(needed)
{
	struct pair two = {
		.ticks = 1000,
		.nr = 2,
		.before = { 0.45, 0.55 },
		.after = { 0.45, 0.55 },
	};
	struct pair pair;

	enough(_metadata, &two);
	make_equal(&pair, 1000);
	enough(_metadata, &pair);
}

/* Probability that @some of @all ticks are of a part with this share */
static double binomial(int all, int some, double share)
{
	return exp(lgamma(all + 1) - lgamma(some + 1) -
		   lgamma(all - some + 1)) *
		pow(share, some) * pow(1 - share, all - some);
}

/*
 * Few ticks on one side, before or after, and so many on the other that they show the
 * share, which has grown by the threshold: the verdicts, without a drawing. As many
 * functions as can have grown so may each be called slower.
 */
static void few_on_side(struct __test_metadata *_metadata, int side, int few,
			double threshold, int functions, double before)
{
	const double shares[2] = { before, before + threshold };
	struct gate gate = {
		.sides = { { 1, 1, 1, 1e5 }, { 1, 1, 1, 1e5 } },
		.threshold = threshold,
	};
	double probability[4] = {}, ticks[2], most;
	int some;

	gate.sides[side].ticks = few;
	gate_init(&gate, functions, 1);
	ticks[!side] = round(shares[!side] * gate.sides[!side].ticks);
	for (some = 0; some <= few; some++) {
		ticks[side] = some;
		probability[gate_judge(&gate, ticks, NULL).verdict] +=
			binomial(few, some, shares[side]);
	}
	most = fmin(functions, floor(1 / shares[1] + 1e-9));
	EXPECT_GE(GATE_LEVEL, 1 - pow(1 - probability[GATE_SLOWER], most));
	EXPECT_GE(GATE_LEVEL, probability[GATE_OK]);
}

TEST(few_on_one_side)
{
	static const int few[] = { 1, 2, 3, 5, 10, 20, 50, 100, 300 };
	static const double thresholds[] = { 0.005, 0.02, 0.1 };
	static const double shares[] = { 0, 0.002, 0.01, 0.05, 0.2, 0.5, 0.9 };
	unsigned int i, j, k;

	for (i = 0; i < sizeof(few) / sizeof(few[0]) * 2; i++)
		for (j = 0; j < sizeof(thresholds) / sizeof(thresholds[0]); j++)
			for (k = 0; k < sizeof(shares) / sizeof(shares[0]); k++) {
				double threshold = thresholds[j];

				few_on_side(_metadata, i & 1, few[i / 2],
					    threshold, 2, shares[k]);
				few_on_side(_metadata, i & 1, few[i / 2],
					    threshold, round(1 / threshold),
					    shares[k]);
			}
}

/* Quantiles of Student's distribution, as in any table of it. */
TEST(student)
{
	static const struct {
		size_t before;
		size_t after;
		double ok;
		double interval;
	} rows[] = {
		{ 1, 1, 1.645, 1.960 }, { 1, 2, 6.314, 12.706 },
		{ 2, 2, 2.920, 4.303 }, { 4, 1, 2.353, 3.182 },
		{ 6, 6, 1.812, 2.228 }, { 16, 16, 1.697, 2.042 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gate gate = {
			.sides = {
				{ rows[i].before, 1, 1, 1 },
				{ rows[i].after, 1, 1, 1 },
			},
			.threshold = THRESHOLD,
		};

		gate_init(&gate, 0, 0);
		EXPECT_GT(0.0006, fabs(gate.runs.ok - rows[i].ok));
		EXPECT_GT(0.0006, fabs(gate.runs.slower - rows[i].ok));
		EXPECT_GT(0.0006, fabs(gate.runs.interval - rows[i].interval));
	}
}

/* The largest and smallest numbers have a verdict and no infinite growth. */
TEST(extremes)
{
	static const double times[] = { 1, 1e9, 1e20 };
	static const uint64_t all[] = { 1, 1000, 1ULL << 48 };
	unsigned int i, j;

	for (i = 0; i < 81; i++) {
		struct gate gate = {
			.sides = {
				{ 1, times[i % 3], times[i % 3],
				  all[i / 9 % 3] },
				{ 1, times[i / 3 % 3], times[i / 3 % 3],
				  all[i / 27] },
			},
			.threshold = THRESHOLD,
		};

		gate_init(&gate, UINT64_MAX, UINT64_MAX);
		for (j = 0; j < 4; j++) {
			struct gate_growth growth = gate_judge(&gate,
				(double []) { j & 1 ? all[i / 9 % 3] : 0,
						j & 2 ? all[i / 27] : 0 },
				NULL);

			ASSERT_TRUE(isfinite(growth.growth));
			ASSERT_TRUE(isfinite(growth.error));
			ASSERT_EQ(growth.verdict == GATE_TOO_FEW,
				  growth.needed > 0);
		}
	}
}

TEST_HARNESS_MAIN
