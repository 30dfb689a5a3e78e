/*!40101 SET NAMES binary*/;
CREATE TABLE `names`(
`name` int
)ENGINE=MyISAM;
