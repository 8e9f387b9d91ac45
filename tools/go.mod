module connectorcore/tools

go 1.26
