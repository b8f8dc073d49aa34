CREATE TABLE `id_sequences` (
  `name` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `next_block_start` bigint(20) NOT NULL,
  `block_size` int(11) NOT NULL,
  `exhausted` smallint(6) NOT NULL DEFAULT 0,
  `first_id` bigint(20) INVISIBLE DEFAULT NULL,
  `step` bigint(20) NOT NULL INVISIBLE DEFAULT 1,
  `min_id` bigint(20) NOT NULL INVISIBLE DEFAULT -9223372036854775808,
  `max_id` bigint(20) NOT NULL INVISIBLE DEFAULT 9223372036854775807,
  `cycles` smallint(6) NOT NULL INVISIBLE DEFAULT 0,
  `generation` bigint(20) NOT NULL INVISIBLE DEFAULT 0,
  `swap_mark` bigint(20) NOT NULL INVISIBLE DEFAULT 0,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci ROW_FORMAT=DYNAMIC;
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('countdown',-130,-4,0,-5,-5,-1000,9223372036854775807,0,5831864721025288,7743545346041264);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('large',9007199254741018,20,0,9007199254740993,1,-9223372036854775808,9223372036854775807,0,8508103658664082,4108523461122993);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('orders',10025,10,0,10000,1,-9223372036854775808,9223372036854775807,0,6661610359583639,911078519947437);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('round and round',21,20,0,1,1,1,30,1,8301374116349468,1791990788124558);
CREATE TABLE `idsmith_leases` (
  `namespace` varbinary(1020) NOT NULL,
  `id` int(11) NOT NULL,
  `owner` varbinary(1020) DEFAULT NULL,
  `epoch` bigint(20) NOT NULL,
  `fence` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  `label` text NOT NULL,
  `swaps` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`namespace`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci ROW_FORMAT=DYNAMIC;
INSERT INTO `idsmith_leases` VALUES ('orders',-2,NULL,0,0,0,'1388534400000/1 node:9@13 sequence:13@0',0);
INSERT INTO `idsmith_leases` VALUES ('orders',0,'8a0bf54b8d8afc3eba298fbecdabb9fe-mwjnyfzy-3quigci',1,1794857770468,1794857770468,'kept',0);
INSERT INTO `idsmith_leases` VALUES ('orders',1,NULL,1,1794857740475,0,'kept',1);
INSERT INTO `idsmith_leases` VALUES ('orders',2,'0146678a99ee84427796cf6ebb38e71f-mwjnyg1i-3rsavqx',1,1794857770471,1794857770471,'kept',0);
CREATE TABLE `idsmith_schema` (
  `id` tinyint(4) NOT NULL,
  `version` int(11) NOT NULL,
  `least_reader` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `idsmith_schema` VALUES (1,1,1);
