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
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('countdown',-130,-4,0,-5,-5,-1000,9223372036854775807,0,8500084695498786,5987053111419322);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('large',9007199254741018,20,0,9007199254740993,1,-9223372036854775808,9223372036854775807,0,2765969302203450,7031872319895374);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('orders',10025,10,0,10000,1,-9223372036854775808,9223372036854775807,0,6720778489465338,4418741522387972);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('round and round',21,20,0,1,1,1,30,1,4933351378019049,4148400738283973);
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
INSERT INTO `idsmith_leases` VALUES ('orders',0,'1ce1e0a0495a0156eec74eba5a548e61-mwjt50l3-1dxn9ur',1,1794866475116,1794866475116,'kept',0);
INSERT INTO `idsmith_leases` VALUES ('orders',1,NULL,1,1794866445124,0,'kept',1);
INSERT INTO `idsmith_leases` VALUES ('orders',2,'664c0c392079966ba55f529dcdcd016d-mwjt50ld-1e3n6u9',1,1794866475122,1794866475122,'kept',0);
CREATE TABLE `idsmith_schema` (
  `id` tinyint(4) NOT NULL,
  `version` int(11) NOT NULL,
  `least_reader` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `idsmith_schema` VALUES (1,1,1);
