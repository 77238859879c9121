-- The program that signed its user in and works with the token; null: a person created the token. Such a token creates no others, so that its
-- revocation ends all access of the program.
alter table tokens add column oauth_client text;
