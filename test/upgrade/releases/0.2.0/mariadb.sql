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
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('countdown',-130,-4,0,-5,-5,-1000,9223372036854775807,0,51557528743546,3166221265614653);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('large',9007199254741018,20,0,9007199254740993,1,-9223372036854775808,9223372036854775807,0,8639632591689353,722400449316549);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('orders',10025,10,0,10000,1,-9223372036854775808,9223372036854775807,0,4093362880455014,5974422555924132);
INSERT INTO `id_sequences` (`name`, `next_block_start`, `block_size`, `exhausted`, `first_id`, `step`, `min_id`, `max_id`, `cycles`, `generation`, `swap_mark`) VALUES ('round and round',21,20,0,1,1,1,30,1,1973168940249983,4387673773765464);
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
INSERT INTO `idsmith_leases` VALUES ('orders',0,'c9187108ad4711e840e1bcdedc7797ae-mwjuksrz-30q6dkx',1,1794868891126,1794868891126,'kept',0);
INSERT INTO `idsmith_leases` VALUES ('orders',1,NULL,1,1794868861134,0,'kept',1);
INSERT INTO `idsmith_leases` VALUES ('orders',2,'e3458b8a8f547a305ed6afeed26b4c41-mwjukssq-3167lol',1,1794868891131,1794868891131,'kept',0);
CREATE TABLE `idsmith_schema` (
  `id` tinyint(4) NOT NULL,
  `version` int(11) NOT NULL,
  `least_reader` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `idsmith_schema` VALUES (1,1,1);
