// of this module: github.com/mumax/3/cmd/mumax3
module programs

go 1.22.4

require github.com/mumax/3 v0.0.0-20261020084628-54efa12420b2
