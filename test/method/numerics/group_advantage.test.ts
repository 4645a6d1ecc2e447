import { expect, test } from "vitest";
import { groupAdvantages } from "../../../lib/method/numerics/group_advantage.ts";
import { leaveOneOutAdvantages } from "../../../lib/method/numerics/leave_one_out.ts";
import { expectGoldenAgreement } from "../../golden/agreement.ts";

test("groupAdvantages() agrees with verl on the golden rows", () => expectGoldenAgreement("grpo"));
test("leaveOneOutAdvantages() agrees with verl on the golden rows", () => expectGoldenAgreement("rloo"));

test("groupAdvantages() of 6 binary rewards with one success is the value worked out by hand", () => {
  const [success, failure] = groupAdvantages([1, 0, 0, 0, 0, 0]);
  expect(success).toBeCloseTo(2.0412, 4);
  expect(failure).toBeCloseTo(-0.4082, 4);
});

test("groupAdvantages() is 0 where all rewards are equal and the reward itself for a group of one", () => {
  expect(groupAdvantages([1, 1, 1])).toEqual([0, 0, 0]);
  expect(groupAdvantages([0.5])[0]).toBeCloseTo(0.5, 5);
  expect(groupAdvantages([0.5], { normalizeByStd: false })).toEqual([0.5]);
  expect(groupAdvantages([])).toEqual([]);
});

test("groupAdvantages() sums to 0 and does not depend on scale or offset of the rewards", () => {
  const rewards = [0.1, 0.7, 0.7, 0, 1];
  const advantages = groupAdvantages(rewards);
  expect(advantages.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 12);
  for (const [index, value] of groupAdvantages(rewards.map((reward) => 10 * reward - 3)).entries()) {
    expect(value).toBeCloseTo(advantages[index], 4);
  }
});

test("leaveOneOutAdvantages() compares with the mean of the others", () => {
  expect(leaveOneOutAdvantages([1, 0, 0.5])).toEqual([0.75, -0.75, 0]);
  expect(leaveOneOutAdvantages([0.3])).toEqual([0.3]);
});
