module peers/node-image

go 1.26
