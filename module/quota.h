/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quota.h - how many profiles a user may have at a time
 */
#ifndef PROFIL_QUOTA_H
#define PROFIL_QUOTA_H

struct profil_quota;

struct profil_quota *profil_quota_charge(void);
bool profil_quota_charge_again(struct profil_quota *quota);
void profil_quota_uncharge(struct profil_quota *quota);

#endif /* PROFIL_QUOTA_H */
