#!/bin/bash
# SPDX-License-Identifier: MIT
# Montage a contact sheet of posters for print: poster_sheet.sh POSTERS SIDE
set -e
posters=$1 side=$2
free -h | awk 'NR == 2 { print "RAM " $2 ", available " $7 }'
identify -list resource | sed -n 1,12p
for poster in $(seq "$posters"); do
    echo "poster $poster: ${side}x$side"
    convert -size 300x300 "gradient:rgb($((poster * 40 % 255)),90,120)-white" -resize "${side}x$side!" "poster_$poster.mpc"
done
convert poster_*.mpc +append -resize 25% sheet.png
identify sheet.png
