namespace gradus {}
