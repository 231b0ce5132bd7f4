// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl.c - the requests of the device, field by field
 *
 * Makes each field of each request wrong in turn: the kernel must return the
 * exact error, write no result, and leave the old profile running as if there
 * had been no request. And checks the results of correct requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* Sizes of the first version of each structure. */
#define SET_SIZE	48
#define STATUS_SIZE	120
#define INFO_SIZE	56
#define ACCOUNT_SIZE	80

#define ALL_FLAGS	0x7f

/* Addresses at which no program has memory. */
static const uint64_t nowhere[] = {
	8, 0x7ffffffff000, 0x800000000000, 0xffff888000000000,
	0xffffffff81000000, 0xfffffffffffffff0,
};

static uint32_t old_counter;
static uint64_t new_counters[4];

/* An old profile that runs, and a correct request for a new one. */
FIXTURE(device) {
	int fd;
	struct profil_region region;
	struct profil_set set;
	struct profil_status before;
	uint32_t old;
};

FIXTURE_SETUP(device)
{
	struct profil_region old = overflow_bin(&old_counter,
						sizeof(old_counter));

	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_regions(&old, 1, sizeof(old_counter), MS,
				 PROFIL_SET_SVR4_ARITH));
	ASSERT_TRUE(burn_ticks(3));
	self->before = status_now();
	self->old = old_counter;
	self->region = overflow_bin(new_counters, sizeof(new_counters));
	self->set = (struct profil_set) {
		.size = sizeof(self->set),
		.width = 2,
		.nr_regions = 1,
		.regions = (uintptr_t)&self->region,
		.period_ns = 2 * MS,
	};
}

FIXTURE_TEARDOWN(device)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	close(self->fd);
}

/* The old profile still runs, has not started again, and counts. */
static void unchanged(struct __test_metadata *_metadata,
		      FIXTURE_DATA(device) *self)
{
	struct profil_status now = status_now();
	size_t i;

	EXPECT_EQ(PROFIL_STATE_ON, now.state);
	EXPECT_EQ(self->before.flags, now.flags);
	EXPECT_EQ(self->before.width, now.width);
	EXPECT_EQ(self->before.period_ns, now.period_ns);
	EXPECT_EQ(self->before.nr_regions, now.nr_regions);
	EXPECT_LE(self->before.cpu_time_ns, now.cpu_time_ns);
	EXPECT_LE(self->before.counts.ticks, now.counts.ticks);
	EXPECT_TRUE(burn_ticks(1));
	EXPECT_LT(self->old, old_counter);
	for (i = 0; i < ARRAY_SIZE(new_counters); i++)
		EXPECT_EQ(0, new_counters[i]);
	self->before = now;
	self->old = old_counter;
}

/* Make the request as it stands: it fails. */
static void refused(struct __test_metadata *_metadata,
		    FIXTURE_DATA(device) *self, int error)
{
	struct profil_set asked = self->set;

	EXPECT_ERROR(error, ioctl(self->fd, PROFIL_IOC_SET, &self->set));
	EXPECT_EQ(0, memcmp(&asked, &self->set, sizeof(asked)));
	unchanged(_metadata, self);
}

/* Make the request as it stands: it succeeds. */
static void granted(struct __test_metadata *_metadata,
		    FIXTURE_DATA(device) *self)
{
	struct profil_status now;

	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_SET, &self->set));
	now = status_now();
	EXPECT_EQ(PROFIL_STATE_ON, now.state);
	EXPECT_EQ(self->set.flags, now.flags);
	EXPECT_EQ(self->set.width, now.width);
	EXPECT_EQ(self->set.period_ns, now.period_ns);
	EXPECT_EQ(self->set.nr_regions, now.nr_regions);
}

/* @size bytes at the end of a page with nothing mapped behind it. */
static void *at_the_end(size_t size)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + PAGE, PAGE);
	return pages + PAGE - size;
}

/* A read-only page with a copy of @content. */
static void *readonly(const void *content, size_t size)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, content, size);
	mprotect(page, PAGE, PROT_READ);
	return page;
}

TEST_F(device, size_too_small)
{
	static const unsigned long requests[] = {
		PROFIL_IOC_SET, PROFIL_IOC_STOP, PROFIL_IOC_STATUS,
		PROFIL_IOC_INFO, PROFIL_IOC_ACCOUNT,
	};
	static const uint32_t least[] = {
		SET_SIZE, STATUS_SIZE, STATUS_SIZE, INFO_SIZE, ACCOUNT_SIZE,
	};
	uint32_t buffer[64];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		uint32_t sizes[] = { 0, 4, 8, least[i] - 8, least[i] - 1 };

		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			memset(buffer, 0xee, sizeof(buffer));
			buffer[0] = sizes[j];
			EXPECT_ERROR(EINVAL, ioctl(self->fd, requests[i],
						   buffer));
			EXPECT_EQ(sizes[j], buffer[0]);
			EXPECT_EQ(0xeeeeeeee, buffer[1]);
			EXPECT_EQ(0xeeeeeeee, buffer[63]);
		}
		unchanged(_metadata, self);
	}
}

TEST_F(device, size_of_a_newer_caller)
{
	struct {
		struct profil_set set;
		uint64_t newer[4];
	} big = { .set = self->set };

	big.set.size = sizeof(big);
	big.newer[3] = 1;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_SET, &big));
	EXPECT_EQ(2 * MS, big.set.period_ns);
	EXPECT_EQ(1, big.newer[3]);
	unchanged(_metadata, self);

	big.newer[3] = 0;
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_SET, &big));
	EXPECT_EQ(sizeof(big), big.set.size);
	EXPECT_EQ(2 * MS, big.set.period_ns);
	EXPECT_EQ(2, status_now().width);
}

TEST_F(device, reports_to_a_newer_caller)
{
	struct {
		struct profil_status status;
		uint64_t newer[4];
	} status = { 0 };
	struct {
		struct profil_info info;
		uint64_t newer[4];
	} info = { 0 };
	struct {
		struct profil_account account;
		uint64_t newer[4];
	} account = { 0 };

	status.status.size = sizeof(status);
	status.newer[0] = 1;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_STATUS, &status));
	EXPECT_EQ(0, status.status.counts.ticks);
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_STOP, &status));
	EXPECT_EQ(0, status.status.counts.ticks);
	EXPECT_EQ(1, status.newer[0]);
	unchanged(_metadata, self);

	status.newer[0] = 0;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, &status));
	EXPECT_EQ(sizeof(status), status.status.size);
	EXPECT_LT(0, status.status.counts.ticks);
	EXPECT_EQ(0, status.newer[0] | status.newer[3]);

	info.info.size = sizeof(info);
	info.newer[3] = 1ULL << 63;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_INFO, &info));
	info.newer[3] = 0;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_INFO, &info));
	EXPECT_EQ(sizeof(info), info.info.size);
	EXPECT_LT(0, info.info.max_regions);
	EXPECT_EQ(0, info.newer[0] | info.newer[3]);

	account.account.size = sizeof(account);
	account.newer[0] = 1;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_ACCOUNT, &account));
	account.newer[0] = 0;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_ACCOUNT, &account));
	EXPECT_EQ(sizeof(account), account.account.size);
	EXPECT_EQ(0, account.newer[0] | account.newer[3]);
}

TEST_F(device, size_of_a_page_and_more)
{
	uint32_t *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, &self->set, sizeof(self->set));
	page[0] = PAGE + 1;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_SET, page));
	page[0] = UINT32_MAX;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_SET, page));
	unchanged(_metadata, self);

	page[0] = PAGE;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_SET, page));
	EXPECT_EQ(2, status_now().width);
}

/* A structure on two pages; another thread supplies the second one. */
struct late {
	int fd;
	char *pages;
	uint32_t *size;
};

/* When the request waits for the second page, increase the size field. */
static void *lengthen(void *argument)
{
	struct late *late = argument;
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)late->pages + PAGE, PAGE },
	};
	struct uffd_msg message;

	if (read(late->fd, &message, sizeof(message)) == sizeof(message))
		*late->size += PAGE;
	ioctl(late->fd, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

TEST_F(device, size_that_changes_meanwhile)
{
	struct late late;
	struct profil_status *status;
	pthread_t thread;

	late.pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late.fd = userfault(late.pages + PAGE, 0);
	if (late.fd < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	status = (void *)(late.pages + PAGE - sizeof(*status));
	late.size = &status->size;
	status->size = sizeof(*status) + 64;
	memset(late.pages + 2 * PAGE, 0x77, PAGE);
	ASSERT_EQ(0, pthread_create(&thread, NULL, lengthen, &late));
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, status));
	pthread_join(thread, NULL);
	EXPECT_EQ(sizeof(*status) + 64, status->size);
	EXPECT_LT(0, status->counts.ticks);
	EXPECT_EQ(0x77, late.pages[2 * PAGE]);
	unchanged(_metadata, self);
}

TEST_F(device, unknown_flags)
{
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		if (ALL_FLAGS & 1u << bit)
			continue;
		self->set.flags = 1u << bit;
		refused(_metadata, self, EINVAL);
	}
}

TEST_F(device, known_flags)
{
	unsigned int bit;

	for (bit = 0; bit < 7; bit++) {
		self->set.flags = 1u << bit;
		granted(_metadata, self);
	}
	self->set.flags = ALL_FLAGS;
	granted(_metadata, self);
}

TEST_F(device, width)
{
	static const uint32_t wrong[] = {
		0, 1, 3, 5, 6, 7, 16, 0x10002, UINT32_MAX
	};
	static const uint32_t right[] = { 2, 4, 8 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		self->set.width = wrong[i];
		refused(_metadata, self, EINVAL);
	}
	for (i = 0; i < ARRAY_SIZE(right); i++) {
		self->set.width = right[i];
		granted(_metadata, self);
	}
}

TEST_F(device, reserved)
{
	self->set.reserved = 1;
	refused(_metadata, self, EINVAL);
	self->set.reserved = 1u << 31;
	refused(_metadata, self, EINVAL);
}

TEST_F(device, number_of_regions)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	self->set.nr_regions = 0;
	refused(_metadata, self, E2BIG);
	self->set.nr_regions = info.max_regions + 1;
	refused(_metadata, self, E2BIG);
	self->set.nr_regions = UINT32_MAX;
	refused(_metadata, self, E2BIG);
}

TEST_F(device, as_many_regions_as_allowed)
{
	struct profil_info info = { .size = sizeof(info) };
	struct profil_region *regions;
	uint32_t i;

	ASSERT_EQ(0, profil_info(&info));
	regions = calloc(info.max_regions, sizeof(*regions));
	for (i = 0; i < info.max_regions; i++)
		regions[i] = self->region;
	self->set.flags = PROFIL_SET_OVERFLOW_ANYWHERE;
	self->set.nr_regions = info.max_regions;
	self->set.regions = (uintptr_t)regions;
	granted(_metadata, self);
	EXPECT_TRUE(burn_ticks(1));
}

TEST_F(device, period)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	uint64_t wrong[] = {
		1, info.min_period_ns - 1, info.max_period_ns + 1,
		1ULL << 32, info.min_period_ns + (1ULL << 32), UINT64_MAX,
	};
	uint64_t right[] = {
		info.min_period_ns, info.max_period_ns, info.fast_period_ns,
		info.default_period_ns, 12345678,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		self->set.period_ns = wrong[i];
		refused(_metadata, self, EINVAL);
	}
	for (i = 0; i < ARRAY_SIZE(right); i++) {
		self->set.period_ns = right[i];
		granted(_metadata, self);
		EXPECT_EQ(right[i], self->set.period_ns);
	}
	self->set.period_ns = 0;
	granted(_metadata, self);
	EXPECT_EQ(info.default_period_ns, self->set.period_ns);
}

TEST_F(device, timeval_size)
{
	static const uint32_t wrong[] = { 0, 4, 12, 24, UINT32_MAX };
	int64_t time[4];
	size_t i;

	memset(time, 0xee, sizeof(time));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		self->set.timeval = (uintptr_t)time;
		self->set.timeval_size = wrong[i];
		refused(_metadata, self, EINVAL);
	}
	self->set.timeval = 0;
	self->set.timeval_size = 8;
	refused(_metadata, self, EINVAL);
	self->set.timeval_size = 16;
	refused(_metadata, self, EINVAL);
	for (i = 0; i < ARRAY_SIZE(time); i++)
		EXPECT_EQ((int64_t)0xeeeeeeeeeeeeeeee, time[i]);
}

TEST_F(device, timeval_of_either_size)
{
	int64_t wide[3] = { -1, -1, -1 };
	int32_t narrow[3] = { -1, -1, -1 };

	self->set.period_ns = 60500;
	self->set.timeval = (uintptr_t)wide;
	self->set.timeval_size = 16;
	granted(_metadata, self);
	EXPECT_EQ(0, wide[0]);
	EXPECT_EQ(60, wide[1]);
	EXPECT_EQ(-1, wide[2]);

	self->set.period_ns = SECOND;
	self->set.timeval = (uintptr_t)narrow;
	self->set.timeval_size = 8;
	granted(_metadata, self);
	EXPECT_EQ(1, narrow[0]);
	EXPECT_EQ(0, narrow[1]);
	EXPECT_EQ(-1, narrow[2]);
}

/* A failing request writes no result of any kind. */
TEST_F(device, timeval_at_a_bad_address)
{
	struct timeval time = { 7, 7 };
	size_t i;

	self->set.period_ns = 0;
	self->set.timeval_size = sizeof(time);
	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		self->set.timeval = nowhere[i];
		refused(_metadata, self, EFAULT);
	}
	self->set.timeval = (uintptr_t)at_the_end(sizeof(time) - 1);
	refused(_metadata, self, EFAULT);
	self->set.timeval = (uintptr_t)readonly(&time, sizeof(time));
	refused(_metadata, self, EFAULT);
}

/* Nor the half of it that would be on writable memory. */
TEST_F(device, timeval_across_an_edge)
{
	static const uint32_t sizes[] = { 8, 16 };
	uint32_t i, off;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (off = 4; off < sizes[i]; off += 4) {
			uint8_t *time = at_the_end(off);
			uint8_t before[16];

			memset(time, 0x77, off);
			memset(before, 0x77, off);
			self->set.timeval = (uintptr_t)time;
			self->set.timeval_size = sizes[i];
			refused(_metadata, self, EFAULT);
			EXPECT_EQ(0, memcmp(before, time, off));
		}
}

TEST_F(device, set_that_cannot_be_written)
{
	struct timeval time = { 7, 7 };
	struct profil_set *set;

	self->set.timeval = (uintptr_t)&time;
	self->set.timeval_size = sizeof(time);
	set = readonly(&self->set, sizeof(self->set));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_SET, set));
	EXPECT_EQ(7, time.tv_sec);
	EXPECT_EQ(7, time.tv_usec);
	unchanged(_metadata, self);
}

TEST_F(device, argument_at_a_bad_address)
{
	struct profil_status status = { .size = sizeof(status) };
	struct profil_info info = { .size = sizeof(info) };
	struct profil_account account = { .size = sizeof(account) };
	void *cut;
	size_t i;

	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_SET, NULL));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STATUS, NULL));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_INFO, NULL));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_ACCOUNT, NULL));
	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_SET,
					   nowhere[i]));
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STATUS,
					   nowhere[i]));
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STOP,
					   nowhere[i]));
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_INFO,
					   nowhere[i]));
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_ACCOUNT,
					   nowhere[i]));
	}
	cut = at_the_end(sizeof(self->set) - 1);
	memcpy(cut, &self->set, sizeof(self->set) - 1);
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_SET, cut));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STATUS,
				   readonly(&status, sizeof(status))));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STOP,
				   readonly(&status, sizeof(status))));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_INFO,
				   readonly(&info, sizeof(info))));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_ACCOUNT,
				   readonly(&account, sizeof(account))));
	unchanged(_metadata, self);
}

TEST_F(device, regions_at_a_bad_address)
{
	struct profil_region *cut;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		self->set.regions = nowhere[i];
		refused(_metadata, self, EFAULT);
	}
	cut = at_the_end(sizeof(*cut) * 2 - 1);
	cut[0] = self->region;
	self->set.nr_regions = 2;
	self->set.regions = (uintptr_t)cut;
	refused(_metadata, self, EFAULT);
	/* The counters are not what is bad: the old profile goes on. */
	self->set.flags = PROFIL_SET_CHECK;
	refused(_metadata, self, EFAULT);
	self->set.regions = 0;
	refused(_metadata, self, EFAULT);
}

TEST_F(device, base_not_aligned)
{
	static const uint32_t widths[] = { 2, 4, 8 };
	uint64_t base = self->region.base;
	uint32_t i, off;

	for (i = 0; i < ARRAY_SIZE(widths); i++)
		for (off = 1; off < widths[i]; off++) {
			self->set.width = widths[i];
			self->region.base = base + off;
			refused(_metadata, self, EINVAL);
		}
}

TEST_F(device, scale_too_large)
{
	static const uint32_t widths[] = { 2, 4, 8 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		uint64_t most = 65536 * widths[i];

		self->set.width = widths[i];
		self->region.scale = most + 1;
		refused(_metadata, self, EINVAL);
		self->region.scale = 1ULL << 32 | 2;
		refused(_metadata, self, EINVAL);
		self->region.scale = UINT64_MAX;
		refused(_metadata, self, EINVAL);
	}
	self->region.scale = 65536 * 8;
	granted(_metadata, self);
}

TEST_F(device, overflow_bin_not_last)
{
	struct profil_region regions[3] = {
		self->region, self->region, self->region,
	};

	regions[0].offset = 0x1000;
	regions[2].offset = 0x2000;
	self->set.nr_regions = 3;
	self->set.regions = (uintptr_t)regions;
	refused(_metadata, self, EINVAL);
	/* Two overflow bins: so one of them is not the last region. */
	regions[2] = regions[1];
	refused(_metadata, self, EINVAL);
	self->set.flags = PROFIL_SET_OVERFLOW_ANYWHERE;
	granted(_metadata, self);
	regions[1].offset = 0x3000;
	self->set.flags = 0;
	granted(_metadata, self);
}

TEST_F(device, svr4_stop_with_wide_counters)
{
	self->set.flags = PROFIL_SET_SVR4_STOP;
	self->set.width = 4;
	refused(_metadata, self, EINVAL);
	self->set.width = 8;
	refused(_metadata, self, EINVAL);
	self->set.width = 2;
	granted(_metadata, self);
}

/* The only failure that changes anything, and only with this flag. */
TEST_F(device, check_stops_what_ran)
{
	struct profil_region good = self->region;
	struct profil_set asked;
	uint32_t counted;

	self->set.flags = PROFIL_SET_CHECK;
	self->set.nr_regions = 2;
	struct profil_region regions[2] = { good, good };

	regions[0].offset = 0x1000;
	regions[1].base = (uintptr_t)at_the_end(8);
	self->set.regions = (uintptr_t)regions;
	asked = self->set;
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_SET, &self->set));
	EXPECT_EQ(0, memcmp(&asked, &self->set, sizeof(asked)));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	counted = old_counter;
	burn_thread_ns(20 * MS);
	EXPECT_EQ(counted, old_counter);
}

TEST_F(device, unknown_requests)
{
	static const unsigned int requests[] = {
		_IO(PROFIL_IOC_TYPE, _IOC_NR(PROFIL_IOC_WATCH_COLLECT) + 1),
		_IO(PROFIL_IOC_TYPE, 255),
		_IO(PROFIL_IOC_TYPE + 1, 0), _IO(0, 0), 0xffffffff,
		_IOW(PROFIL_IOC_TYPE, 0, struct profil_set),
		_IOR(PROFIL_IOC_TYPE, 2, struct profil_status),
		_IOWR(PROFIL_IOC_TYPE, 3, struct profil_info),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		EXPECT_ERROR(ENOTTY, ioctl(self->fd, requests[i], &self->set));
		EXPECT_ERROR(ENOTTY, ioctl(self->fd, requests[i], NULL));
	}
	unchanged(_metadata, self);
}

TEST_F(device, mapping_it_is_refused)
{
	static const int protections[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protections); i++) {
		errno = 0;
		EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, protections[i],
					   MAP_PRIVATE, self->fd, 0));
		EXPECT_EQ(EPERM, errno);
	}
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(EPERM, errno);
	unchanged(_metadata, self);

	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE,
				   self->fd, 0));
	EXPECT_EQ(EPERM, errno);
}

/* The anchor is a mapping of the file, which must be open for reading. */
TEST_F(device, descriptor_without_read_permission)
{
	struct profil_status status = { .size = sizeof(status) };
	int fd = open(PROFIL_DEVICE, O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ioctl(fd, PROFIL_IOC_STATUS, &status));
	EXPECT_LT(0, status.counts.ticks);
	EXPECT_ERROR(EACCES, ioctl(fd, PROFIL_IOC_SET, &self->set));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_EQ(0, ioctl(fd, PROFIL_IOC_STOP, NULL));
	EXPECT_ERROR(EACCES, ioctl(fd, PROFIL_IOC_SET, &self->set));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_SET, &self->set));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
}

TEST_F(device, descriptor_that_is_only_a_path)
{
	struct profil_info info = { .size = sizeof(info) };
	int fd = open(PROFIL_DEVICE, O_PATH | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_ERROR(EBADF, ioctl(fd, PROFIL_IOC_INFO, &info));
	EXPECT_ERROR(EBADF, ioctl(fd, PROFIL_IOC_STOP, NULL));
	close(fd);
	EXPECT_ERROR(EBADF, ioctl(fd, PROFIL_IOC_STOP, NULL));
	unchanged(_metadata, self);
}

/*
 * A request acts on its caller's profile, whichever process opened the device.
 */
TEST_F(device, descriptor_of_another_process)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STOP, NULL));
		EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	unchanged(_metadata, self);
}

TEST_F(device, goes_on_when_every_descriptor_is_closed)
{
	close(self->fd);
	ASSERT_EQ(0, syscall(SYS_close_range, 3, ~0U, 0));
	unchanged(_metadata, self);
}

TEST_F(device, status)
{
	struct profil_region_status regions[3];
	struct profil_status status;

	memset(&status, 0xee, sizeof(status));
	memset(regions, 0xee, sizeof(regions));
	status.size = sizeof(status);
	status.regions = (uintptr_t)regions;
	status.max_regions = 3;
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, &status));
	EXPECT_EQ(sizeof(status), status.size);
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_EQ(PROFIL_SET_SVR4_ARITH, status.flags);
	EXPECT_EQ(4, status.width);
	EXPECT_EQ(MS, status.period_ns);
	EXPECT_LE(self->before.cpu_time_ns, status.cpu_time_ns);
	EXPECT_LE(self->before.counts.ticks, status.counts.ticks);
	EXPECT_EQ(0, status.counts.outside | status.counts.left_out |
			     status.unfollowed);
	EXPECT_CONSERVED(&status);
	EXPECT_EQ((uintptr_t)regions, status.regions);
	EXPECT_EQ(3, status.max_regions);
	EXPECT_EQ(1, status.nr_regions);
	EXPECT_EQ(status.counts.counted, regions[0].counted);
	EXPECT_EQ(PROFIL_REGION_ON, regions[0].state);
	EXPECT_EQ(0, regions[0].reserved);
	EXPECT_EQ(0xeeeeeeeeeeeeeeee, regions[1].counted);
	EXPECT_EQ(0xeeeeeeee, regions[1].reserved);
}

TEST_F(device, status_with_less_room_than_regions)
{
	struct profil_region_status regions[3];
	struct profil_status status = {
		.size = sizeof(status),
		.regions = (uintptr_t)regions,
		.max_regions = 2,
	};
	struct profil_region three[3] = {
		self->region, self->region, self->region,
	};

	three[0].offset = 0x1000;
	three[1].offset = 0x2000;
	self->set.nr_regions = 3;
	self->set.regions = (uintptr_t)three;
	granted(_metadata, self);
	memset(regions, 0xee, sizeof(regions));
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, &status));
	EXPECT_EQ(3, status.nr_regions);
	EXPECT_EQ(2, status.max_regions);
	EXPECT_EQ(0, regions[1].counted);
	EXPECT_EQ(0xeeeeeeeeeeeeeeee, regions[2].counted);

	/* With no room the kernel does not look at the array either. */
	status.regions = nowhere[0];
	status.max_regions = 0;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, &status));
	status.regions = 0;
	status.max_regions = UINT32_MAX;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, &status));
}

TEST_F(device, status_array_at_a_bad_address)
{
	struct profil_status status, asked;
	size_t i;

	memset(&status, 0xee, sizeof(status));
	status.size = sizeof(status);
	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		status.regions = nowhere[i];
		status.max_regions = 1;
		asked = status;
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STATUS,
					   &status));
		EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STOP,
					   &status));
		EXPECT_EQ(0, memcmp(&asked, &status, sizeof(status)));
	}
	status.regions = (uintptr_t)at_the_end(
				sizeof(struct profil_region_status) - 1);
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_STOP, &status));
	unchanged(_metadata, self);
}

TEST_F(device, stop_gives_the_last_numbers)
{
	struct profil_region_status region;
	struct profil_status last;

	memset(&last, 0xee, sizeof(last));
	memset(&region, 0xee, sizeof(region));
	last.size = sizeof(last);
	last.regions = (uintptr_t)&region;
	last.max_regions = 1;
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_STOP, &last));
	EXPECT_EQ(PROFIL_STATE_OFF, last.state);
	EXPECT_EQ(PROFIL_SET_SVR4_ARITH, last.flags);
	EXPECT_EQ(MS, last.period_ns);
	EXPECT_EQ(old_counter, last.counts.counted);
	EXPECT_EQ(old_counter, region.counted);
	EXPECT_EQ(0, last.pending);
	EXPECT_EQ(1, last.nr_regions);
	EXPECT_CONSERVED(&last);
}

TEST_F(device, stop_without_a_profile_gives_zeros)
{
	struct profil_status last, zeros = { 0 };
	char untouched = 0x55;

	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STOP, NULL));
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STOP, NULL));
	memset(&last, 0xee, sizeof(last));
	last.size = sizeof(last);
	last.regions = (uintptr_t)&untouched;
	last.max_regions = 9;
	zeros.size = sizeof(zeros);
	zeros.regions = last.regions;
	zeros.max_regions = 9;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STOP, &last));
	EXPECT_EQ(0, memcmp(&zeros, &last, sizeof(last)));
	last.counts.ticks = 1;
	EXPECT_EQ(0, ioctl(self->fd, PROFIL_IOC_STATUS, &last));
	EXPECT_EQ(0, memcmp(&zeros, &last, sizeof(last)));
	EXPECT_EQ(0x55, untouched);
}

static unsigned int parameter(const char *name)
{
	char path[100];
	unsigned int value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/profil/parameters/%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

TEST_F(device, info_tells_the_limits)
{
	struct profil_info info;

	memset(&info, 0xee, sizeof(info));
	info.size = sizeof(info);
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_INFO, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(ALL_FLAGS, info.set_flags);
	EXPECT_GE(PROFIL_CLOCK_HRTIMER, info.clock);
	EXPECT_EQ(parameter("max_regions"), info.max_regions);
	EXPECT_EQ(10 * MS, info.default_period_ns);
	EXPECT_EQ(MS, info.fast_period_ns);
	EXPECT_EQ(parameter("min_period_us") * 1000, info.min_period_ns);
	EXPECT_EQ(SECOND, info.max_period_ns);
	EXPECT_EQ(parameter("max_profiles"), info.max_profiles);
	EXPECT_EQ(1, info.fast);
	unchanged(_metadata, self);
}

TEST(any_user_may_use_it)
{
	struct profil_region region = overflow_bin(&old_counter,
						   sizeof(old_counter));

	ASSERT_EQ(0, setresgid(54321, 54321, 54321));
	ASSERT_EQ(0, setresuid(54321, 54321, 54321));
	ASSERT_EQ(0, set_regions(&region, 1, sizeof(old_counter), MS, 0));
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_LE(3, old_counter);
}

TEST_HARNESS_MAIN
