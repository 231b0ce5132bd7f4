// SPDX-License-Identifier: GPL-2.0-only
/*
 * gate.c - has CPU time grown by more than a threshold?
 *
 * All growth is relative to the CPU time of the whole program before. A part, a
 * function or DSO, has the share p of the ticks of a run, and the CPU time
 * C * X / N: C is the time covered by the profile, which the scheduler measures
 * without error, X the ticks of the part and N all ticks.
 *
 * Its sampling error: one tick falls in each cell of one period, uniformly. A
 * cell in which the program runs for the fraction a of the period, and the part
 * for q, adds I - pJ to X - pN, where I and J say that the part or the program
 * has the tick. The variance of this is at most q (1 - p)^2 + (a - q) p^2, and
 * the sum over all cells is N p (1 - p), that of a binomial distribution. It is
 * this if the part is called often in each cell, and less if the part or others
 * keep the CPU for whole cells. The number of cells does not matter.
 *
 * The test is the score test of Farrington and Manning (1990) for a difference
 * of two proportions, here weighted by the times of the runs: the growth less
 * the threshold, divided by the standard error that it has if the growth equals
 * the threshold, with both shares as likely as possible. Unlike an error
 * computed from the ticks themselves this is right for a part with few ticks or
 * none. Half a tick, of the side with fewer of them, is taken off the distance
 * (continuity correction). Where few ticks make a tail of the distribution longer
 * than a normal one, the limit there is farther, by its skewness (Cornish and
 * Fisher).
 *
 * Two errors are limited to GATE_LEVEL:
 *
 * - that any part is called slower although none has grown by more than the
 *   threshold. The level is divided by the number of tests (Bonferroni), or by
 *   how often the threshold fits into the time after, if that is less: no more
 *   functions, and no more DSOs, can have grown so much, and those with less
 *   time hardly ever seem to;
 * - that all are called ok although one has grown by more than the threshold.
 *   This needs no division, because all parts have to be ok.
 *
 * Otherwise there are too few ticks to tell. The CPU time of the whole has no
 * sampling error.
 *
 * The CPU time of a program also varies between its runs, which only several
 * runs can show. Then a verdict needs Student's t test, too, of the times of
 * the runs, those before increased by the threshold, at the same levels. With
 * one run of each, the variation is unknown, and counts as none.
 */
#include <math.h>
#include <stdbool.h>

#include "prohist/gate.h"

/* Halvings of an interval until it has no inside */
#define HALVINGS	80

/* Largest number of standard errors looked for */
#define FARTHEST	1e6

/* Half of what a 95 % confidence interval leaves out */
#define OUTSIDE		0.025

/*
 * Probability that Student's t exceeds @x; that of the normal distribution if
 * there are no degrees of freedom. Abramowitz and Stegun, 26.7.3 and 26.7.4.
 */
static double tail(double x, size_t freedom)
{
	double angle = atan(x / sqrt(freedom)), sum = 0;
	bool odd = freedom % 2;
	double term = odd ? cos(angle) : 1;
	size_t i;

	if (!freedom)
		return erfc(x / M_SQRT2) / 2;
	for (i = odd ? 3 : 2; i <= freedom; i += 2) {
		sum += term;
		term *= cos(angle) * cos(angle) * (i - 1) / i;
	}
	sum *= sin(angle);
	return (1 - (odd ? M_2_PI * (angle + sum) : sum)) / 2;
}

/* Standard errors that are exceeded with this probability. */
static double quantile(double probability, size_t freedom)
{
	double low = 0, high = FARTHEST, middle;
	int i;

	for (i = 0; i < HALVINGS; i++) {
		middle = (low + high) / 2;
		if (tail(middle, freedom) > probability)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Time covered by the profile of a run, relative to the CPU time before. */
static double covered(const struct gate *gate, int which)
{
	return gate->sides[which].covered_ns / gate->sides[0].cpu_ns;
}

/* Standard error of the growth of a part with these shares. */
static double standard_error(const struct gate *gate, const double shares[2])
{
	double variance = 0, time;
	int i;

	for (i = 0; i < 2; i++) {
		time = covered(gate, i);
		variance += time * time * shares[i] * (1 - shares[i]) /
			gate->sides[i].ticks;
	}
	return sqrt(variance);
}

/* Share before if the growth equals the threshold. */
static double share_before(const struct gate *gate, double after)
{
	double share = (covered(gate, 1) * after - gate->threshold) /
		covered(gate, 0);

	return fmin(fmax(share, 0), 1);
}

/* Derivative of the logarithm of a binomial likelihood. */
static double slope(double ticks, double all, double share)
{
	double up = ticks > 0 ? ticks / share : 0;

	return all > ticks ? up - (all - ticks) / (1 - share) : up;
}

/* Skewness of the growth of a part with these shares. */
static double skewness(const struct gate *gate, const double shares[2])
{
	double moment = 0, error = standard_error(gate, shares);
	int i;

	for (i = 0; i < 2; i++)
		moment += (i ? 1 : -1) *
			pow(covered(gate, i) / error, 3) * shares[i] *
			(1 - shares[i]) * (1 - 2 * shares[i]) /
			pow(gate->sides[i].ticks, 2);
	return error > 0 ? moment : 0;
}

/* A limit, on the side of a tail that is longer if @skewed is above 0. */
static double farther(double limit, double skewed)
{
	return limit + fmax(skewed, 0) * (limit * limit - 1) / 6;
}

/*
 * The shares with the maximum likelihood if the growth equals the threshold.
 * Where that is, the slope changes its sign.
 */
static void shares_at_threshold(const struct gate *gate,
				const double ticks[2], double shares[2])
{
	double before = covered(gate, 0), after = covered(gate, 1);
	double low = gate->threshold / after;
	double high = fmin(1, (before + gate->threshold) / after);
	int i;

	for (i = 0; i < HALVINGS; i++) {
		shares[1] = (low + high) / 2;
		shares[0] = share_before(gate, shares[1]);
		if (before * slope(ticks[1], gate->sides[1].ticks, shares[1]) +
		    after * slope(ticks[0], gate->sides[0].ticks, shares[0]) > 0)
			low = shares[1];
		else
			high = shares[1];
	}
}

/*
 * Ticks for a verdict with the probability 1 - GATE_LEVEL. If there are not
 * even enough to call a part ok that has not changed, enough for that; otherwise
 * enough if the change is as estimated. Half of the level, because the verdict
 * can depend on two parts that have much of the time, but hardly on more.
 */
static double ticks_needed(const struct gate *gate, double above, double error)
{
	double all = 2 / (1 / gate->sides[0].ticks + 1 / gate->sides[1].ticks);
	double limit = above > 0 ? gate->ticks.slower : gate->ticks.ok;
	double power = quantile(GATE_LEVEL / 2, 0);
	double factor = (power + gate->ticks.ok) * error / gate->threshold;

	if (factor <= 1)
		factor = fmax(1, (power + limit) * error / fabs(above));
	return ceil(all * factor * factor);
}

/* The verdict of a distance to the threshold and its standard error. */
static enum gate_verdict compare(double above, double error,
				 const struct gate_limits *limits,
				 enum gate_verdict neither)
{
	if (above > limits->slower * error)
		return GATE_SLOWER;
	return above < -limits->ok * error ? GATE_OK : neither;
}

static void judge_ticks(const struct gate *gate, const double ticks[2],
			struct gate_growth *result)
{
	double half = fmax(covered(gate, 0) / gate->sides[0].ticks,
			   covered(gate, 1) / gate->sides[1].ticks) / 2;
	double above = result->growth - gate->threshold, error, skewed;
	struct gate_limits limits;
	double shares[2];

	/* All of the time after is less than the threshold */
	if (covered(gate, 1) <= gate->threshold)
		return;
	shares_at_threshold(gate, ticks, shares);
	error = standard_error(gate, shares);
	skewed = skewness(gate, shares);
	limits.slower = farther(gate->ticks.slower, skewed);
	limits.ok = farther(gate->ticks.ok, -skewed);
	result->verdict = compare(copysign(fmax(fabs(above) - half, 0), above),
				  error, &limits, GATE_TOO_FEW);
	if (result->verdict == GATE_TOO_FEW)
		result->needed = ticks_needed(gate, above, error);
}

/* Time of a part in a run, which before may be more by the threshold. */
static double permitted(const struct gate *gate, const double *times,
			size_t run)
{
	bool before = run < gate->sides[0].nr;

	return times[run] + (before ? gate->threshold * gate->cpu_ns[run] : 0);
}

/* How far a part is above the threshold, and the standard error of this. */
static double between_runs(const struct gate *gate, const double *times,
			   double *error)
{
	const struct gate_side *sides = gate->sides;
	double means[2] = {}, squares = 0, off;
	size_t i;

	for (i = 0; i < sides[0].nr + sides[1].nr; i++)
		means[i >= sides[0].nr] += permitted(gate, times, i) /
			sides[i >= sides[0].nr].nr;
	for (i = 0; i < sides[0].nr + sides[1].nr; i++) {
		off = permitted(gate, times, i) - means[i >= sides[0].nr];
		squares += off * off;
	}
	*error = sqrt(squares / gate->freedom *
		      (1.0 / sides[0].nr + 1.0 / sides[1].nr));
	return means[1] - means[0];
}

/* A verdict needs both tests; without one, ticks are the first remedy. */
static void judge_runs(const struct gate *gate, const double *times,
		       struct gate_growth *result)
{
	enum gate_verdict verdict;
	double above, error;

	if (!gate->freedom)
		return;
	above = between_runs(gate, times, &error);
	verdict = compare(above, error, &gate->runs, GATE_TOO_FEW_RUNS);
	if (verdict != result->verdict && result->verdict != GATE_TOO_FEW)
		result->verdict = GATE_TOO_FEW_RUNS;
	error *= gate->runs.interval / gate->sides[0].cpu_ns;
	result->error = fmax(result->error, error);
}

/**
 * gate_judge() - judge the growth of a part
 * @gate: initialized
 * @ticks: ticks of the part on both sides; none is a part that was not seen
 * @times: CPU time of the part in each run; unused if there is one before and
 *	one after
 */
struct gate_growth gate_judge(const struct gate *gate,
			      const double ticks[2], const double *times)
{
	const double shares[2] = {
		ticks[0] / gate->sides[0].ticks,
		ticks[1] / gate->sides[1].ticks,
	};
	struct gate_growth result = {
		.growth = covered(gate, 1) * shares[1] -
			covered(gate, 0) * shares[0],
		.error = gate->ticks.interval * standard_error(gate, shares),
	};

	judge_ticks(gate, ticks, &result);
	judge_runs(gate, times, &result);
	return result;
}

/** gate_whole() - judge the growth of the CPU time of the whole program */
struct gate_growth gate_whole(const struct gate *gate)
{
	struct gate_growth result = {
		.growth = gate->sides[1].cpu_ns / gate->sides[0].cpu_ns - 1,
	};

	if (result.growth > gate->threshold)
		result.verdict = GATE_SLOWER;
	judge_runs(gate, gate->cpu_ns, &result);
	return result;
}

static void find_limits(struct gate_limits *limits, double tests,
			size_t freedom)
{
	limits->slower = quantile(GATE_LEVEL / tests, freedom);
	limits->ok = quantile(GATE_LEVEL, freedom);
	limits->interval = quantile(OUTSIDE, freedom);
}

/**
 * gate_init() - prepare to judge
 * @gate: the gate, with sides, of whose numbers none is 0, cpu_ns and threshold
 * @functions: number of functions to be judged
 * @dsos: number of DSOs to be judged
 */
void gate_init(struct gate *gate, uint64_t functions, uint64_t dsos)
{
	double most = floor(covered(gate, 1) / gate->threshold);
	double tests = fmin(functions, most) + fmin(dsos, most);

	gate->freedom = gate->sides[0].nr + gate->sides[1].nr - 2;
	/* The whole needs a test if it varies */
	if (gate->freedom || !tests)
		tests++;
	find_limits(&gate->ticks, tests, 0);
	find_limits(&gate->runs, tests, gate->freedom);
}

/** gate_verdict_name() - a verdict, in words */
const char *gate_verdict_name(enum gate_verdict verdict)
{
	static const char * const names[] = {
		[GATE_OK] = "ok",
		[GATE_SLOWER] = "slower",
		[GATE_TOO_FEW] = "too few ticks",
		[GATE_TOO_FEW_RUNS] = "too few runs",
	};

	return names[verdict];
}

/** gate_worse() - verdict on two parts together */
enum gate_verdict gate_worse(enum gate_verdict a, enum gate_verdict b)
{
	static const int ranks[] = {
		[GATE_OK] = 0,
		[GATE_TOO_FEW_RUNS] = 1,
		[GATE_TOO_FEW] = 2,
		[GATE_SLOWER] = 3,
	};

	return ranks[a] > ranks[b] ? a : b;
}

/**
 * gate_finds() - growth of a part that is certainly called slower
 *
 * Certainly means with the probability 1 - GATE_LEVEL, whatever the shares, if
 * runs do not vary.
 */
double gate_finds(const struct gate *gate)
{
	const double shares[2] = { 0.5, 0.5 };

	return gate->threshold + standard_error(gate, shares) *
		(gate->ticks.slower + gate->ticks.ok);
}
