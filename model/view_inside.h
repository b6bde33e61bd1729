/* view_inside.h - folds of a view, shared by view.c and view_fold.c. */
#pragma once
#include "view.h"

#define VIEW_EXTENT_MAX (INT64_C(1) << 50)

int64_t view_saturate(__int128_t value);        /* at a size that no buffer reaches */
/* Adds a fold: a space in which the elements lie without gaps, dimension order[0] outermost. False: too many folds. */
bool view_fold(View *view, const unsigned *order);
void view_unfold(View *view);                   /* drops folds as long as the view has strides without them */
