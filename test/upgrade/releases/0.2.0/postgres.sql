--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: id_sequences; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.id_sequences (
    name character varying(255) NOT NULL COLLATE pg_catalog."C",
    next_block_start bigint NOT NULL,
    block_size integer NOT NULL,
    exhausted smallint DEFAULT 0 NOT NULL,
    first_id bigint,
    step bigint DEFAULT 1 NOT NULL,
    min_id bigint DEFAULT '-9223372036854775808'::bigint NOT NULL,
    max_id bigint DEFAULT '9223372036854775807'::bigint NOT NULL,
    cycles smallint DEFAULT 0 NOT NULL,
    generation bigint DEFAULT 0 NOT NULL,
    swap_mark bigint DEFAULT 0 NOT NULL
);


--
-- Name: idsmith_leases; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idsmith_leases (
    namespace text NOT NULL COLLATE pg_catalog."C",
    id integer NOT NULL,
    owner text COLLATE pg_catalog."C",
    epoch bigint NOT NULL,
    fence bigint NOT NULL,
    expires_at bigint NOT NULL,
    label text NOT NULL
);


--
-- Name: idsmith_schema; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.idsmith_schema AS
 SELECT 1 AS version,
    1 AS least_reader;


--
-- Data for Name: id_sequences; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.id_sequences VALUES ('round and round', 21, 20, 0, 1, 1, 1, 30, 1, 320380107954562, 8279874776237472);
INSERT INTO public.id_sequences VALUES ('large', 9007199254741018, 20, 0, 9007199254740993, 1, -9223372036854775808, 9223372036854775807, 0, 7968587439681113, 4465924715460023);
INSERT INTO public.id_sequences VALUES ('countdown', -130, -4, 0, -5, -5, -1000, 9223372036854775807, 0, 4930456197323629, 2680520486931583);
INSERT INTO public.id_sequences VALUES ('orders', 10025, 10, 0, 10000, 1, -9223372036854775808, 9223372036854775807, 0, 4318698050676596, 2434553233855612);


--
-- Data for Name: idsmith_leases; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idsmith_leases VALUES ('orders', 0, 'acee656bf1a13d3a15bcde762f8e0b09-mwjukpdf-zr7n2z', 1, 1794868886702, 1794868886702, 'kept');
INSERT INTO public.idsmith_leases VALUES ('orders', 2, '3f5942fa2eee504d1619b03929600fb8-mwjukpdu-10044ba', 1, 1794868886707, 1794868886707, 'kept');
INSERT INTO public.idsmith_leases VALUES ('orders', -2, NULL, 0, 0, 0, '1388534400000/1 node:9@13 sequence:13@0');
INSERT INTO public.idsmith_leases VALUES ('orders', 1, NULL, 1, 1794868856709, 0, 'kept');


--
-- Name: id_sequences id_sequences_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.id_sequences
    ADD CONSTRAINT id_sequences_pkey PRIMARY KEY (name);


--
-- Name: idsmith_leases idsmith_leases_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idsmith_leases
    ADD CONSTRAINT idsmith_leases_pkey PRIMARY KEY (namespace, id);


--
-- PostgreSQL database dump complete
--


