//! What lines and positions are judged by, as `prompter tuning` and `prompter fitting` printed it.

use crate::rules::Rules;
use crate::value::Features;
use crate::worth::Worths;

pub struct Weights {
    pub worths: Worths,
    pub value: Features,
}

/// The weights for games of this kind.
pub fn choose_weights(rules: &Rules) -> &'static Weights {
    if rules.team_count < rules.seats {
        &PARTNERS
    } else if rules.descending {
        &RESTRICTED
    } else if rules.aside {
        &SKIPBO
    } else if rules.seats > 2 {
        &MANY
    } else {
        &STANDARD
    }
}

/// What `planner` judges by, from where `tuning` began.
pub const PLAIN: Worths = Worths {
    empty_hand: 400,
    card_left: -50,
    wild_left: 250,
    near: [300, 200, 100, 40],
    danger: [600, 300, 120, 50],
    danger_rest: 0,
    gift: 0,
    wild_thrown: -300,
    high_first: 3,
    thrown_below: [0, 0, 0, 0],
    thrown_double: 0,
    equal: 0,
    under_wild: 25,
    wild_buried: 200,
    lower: [25, 12],
    higher: [80, 6],
};
/// `standard`
static STANDARD: Weights = Weights {
    worths: Worths {
        empty_hand: 146,
        card_left: -70,
        wild_left: 240,
        near: [303, 37, -7, 34],
        danger: [943, 584, 263, 90],
        danger_rest: 24,
        gift: -42,
        wild_thrown: -365,
        high_first: 1,
        thrown_below: [74, -57, -54, -39],
        thrown_double: 77,
        equal: -25,
        under_wild: 35,
        wild_buried: 177,
        lower: [6, 3],
        higher: [27, 19],
    },
    value: [
        -1.527, -1.326, 0.140, 0.115, 0.042, 0.102, -0.052, -0.023, 0.112, 0.029, -0.010, 0.189, 0.018, -0.034, 0.129,
        -0.898, 0.099, 0.227, -0.139,
    ],
};
/// `skipbo`
static SKIPBO: Weights = Weights {
    worths: Worths {
        empty_hand: 106,
        card_left: -46,
        wild_left: 146,
        near: [528, 118, 77, 1],
        danger: [910, 588, 231, 57],
        danger_rest: 10,
        gift: -23,
        wild_thrown: -131,
        high_first: 1,
        thrown_below: [37, -23, -28, -15],
        thrown_double: 43,
        equal: -16,
        under_wild: 34,
        wild_buried: -40,
        lower: [-1, 4],
        higher: [51, -4],
    },
    value: [
        -0.734, -1.727, 0.054, 0.028, -0.016, 0.073, -0.035, -0.087, 0.081, 0.023, -0.002, 0.144, 0.005, 0.003, -0.023,
        -0.298, 0.021, 0.184, -0.140,
    ],
};
/// `book`
static RESTRICTED: Weights = Weights {
    worths: Worths {
        empty_hand: 157,
        card_left: -59,
        wild_left: 168,
        near: [413, 130, 36, 63],
        danger: [1049, 586, 223, 86],
        danger_rest: 33,
        gift: -48,
        wild_thrown: -442,
        high_first: 2,
        thrown_below: [24, -35, -21, 2],
        thrown_double: 41,
        equal: -23,
        under_wild: 1,
        wild_buried: 187,
        lower: [38, 27],
        higher: [90, 5],
    },
    value: [
        -0.180, -2.321, 0.092, 0.052, 0.003, 0.021, -0.053, -0.053, -0.087, 0.042, 0.031, 0.067, 0.001, 0.000, -0.194,
        -0.067, -0.018, 0.147, -0.107,
    ],
};
/// `multi-4`
static MANY: Weights = Weights {
    worths: Worths {
        empty_hand: 150,
        card_left: -33,
        wild_left: 265,
        near: [611, 46, 27, 30],
        danger: [188, 100, 33, 20],
        danger_rest: 27,
        gift: 0,
        wild_thrown: -135,
        high_first: 1,
        thrown_below: [30, -21, -11, -11],
        thrown_double: 27,
        equal: -20,
        under_wild: 16,
        wild_buried: 45,
        lower: [12, 3],
        higher: [27, -2],
    },
    value: [
        -1.079, -1.511, 0.182, 0.084, 0.027, 0.155, -0.067, -0.177, 0.271, -0.034, 0.049, 0.212, -0.050, -0.064, 0.007,
        -0.767, 0.002, 0.309, -0.125,
    ],
};
/// `partners-4`
static PARTNERS: Weights = Weights {
    worths: Worths {
        empty_hand: 285,
        card_left: -81,
        wild_left: 217,
        near: [713, 22, 33, 7],
        danger: [641, 379, 134, 2],
        danger_rest: 25,
        gift: 6,
        wild_thrown: -446,
        high_first: 2,
        thrown_below: [71, 20, 2, -10],
        thrown_double: 76,
        equal: -46,
        under_wild: 32,
        wild_buried: 295,
        lower: [38, 7],
        higher: [80, 7],
    },
    value: [
        -0.426, -1.199, 0.384, 0.260, 0.137, 0.085, -0.032, -0.102, -0.080, -0.029, 0.071, 0.082, -0.011, -0.027,
        0.311, -0.343, 0.182, 0.074, 0.154,
    ],
};
