module example.com/wedge

go 1.26
