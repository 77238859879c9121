import type { Signature } from './signature.ts'

/** Network errors. The cause of each may be a rule of the sandbox, which an entry `egress_blocked` reports. */
export const networkSignatures: readonly Signature[] = [
  {
    code: 'egress_denied',
    pattern:
      /no rule allows ([\w.:[\]-]{1,200}?)\.?(?:[)\s]|$)|Proxy response \((?:403|407|502)\)|(?:CONNECT tunnel failed, response|Received HTTP code|Tunnel connection failed:|tunneling socket could not be established, statusCode=|Proxy CONNECT aborted|response from proxy after CONNECT:?) ?(?:403|407|502)?|HTTP\/1\.[01] 403 .{0,40}(?:egress|proxy)/i,
    title: 'The way out of the sandbox is closed to it',
    cause: 'The proxy of the sandbox refused the connection, because the host is not allowed: $1',
    remedy: 'Allow the host for the repository, or do without it. Setup commands have rules of their own.',
  },
  {
    code: 'rate_limited',
    pattern:
      /\b(?:HTTP(?: status| error)?(?: code)?:? ?|status(?: code)?:? |error: )429\b|429 Too Many Requests|toomanyrequests:|API rate limit exceeded|secondary rate limit/i,
    title: 'A server wants fewer requests',
    cause: 'It responded with 429: too many requests in a short time.',
    remedy: 'Wait and try again, sign in for a higher limit, or use a mirror.',
    in_tests: true,
  },
  {
    code: 'dns',
    pattern:
      /\bENOTFOUND\b(?: ([\w-]{1,63}(?:\.[\w-]{1,63}){0,8}))?|\bEAI_AGAIN\b(?: ([\w-]{1,63}(?:\.[\w-]{1,63}){0,8}))?|[Cc]ould not resolve host(?:name)?:? ?([\w.-]{0,253})|Temporary failure in name resolution|Name or service not known|getaddrinfo failed|Temporary failure resolving '([^']{1,200})'|nodename nor servname provided|UnknownHostException:? ?(\S{0,200})|no such host|dns error|failed to lookup address information|Failed to resolve '([^']{1,200})'/,
    title: 'A host name is not resolved',
    cause: 'A sandbox resolves no names but through its proxy, or the name is wrong: $1$2$3$4$5$6',
    remedy: 'Allow the host for the repository and have the program use HTTPS_PROXY; otherwise check the name.',
    in_tests: true,
  },
  {
    code: 'tls',
    pattern:
      /UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|self[- ]signed certificate|certificate (?:verify failed|has expired|is not trusted)|CERT_HAS_EXPIRED|SSL certificate problem: (.{1,100})|CERTIFICATE_VERIFY_FAILED|x509: (.{1,100})|PKIX path building failed|tlsv1 alert|SSL_ERROR_SYSCALL|ERR_TLS_CERT_ALTNAME_INVALID|wrong version number|handshake failure/,
    title: 'TLS fails',
    cause: 'The certificate of the other side is not trusted here, has expired, or it speaks no TLS at all: $1$2',
    remedy: 'Give the program the right certificates (NODE_EXTRA_CA_CERTS, SSL_CERT_FILE), and check address and clock.',
    in_tests: true,
  },
  {
    code: 'database_refused',
    pattern:
      /connection to server at "([^"]{1,200})".{0,100}(?:refused|failed)|could not connect to server: Connection refused|Can't connect to (?:local )?(?:MySQL|MariaDB) server|Could not connect to Redis at (\S{1,100})|Redis connection to (\S{1,100}) failed|MongoNetworkError|MongoServerSelectionError|ServerSelectionTimeoutError|ECONNREFUSED \S{1,60}:(?:5432|3306|6379|27017|9200|5672|9092|1433)\b|SQLSTATE\[(?:HY000|08006)\]|PG::ConnectionBad|psycopg2?\.OperationalError|Error 61 connecting to|Error 111 connecting to (\S{1,100})/,
    title: 'A database is not there',
    cause: 'The database of the program does not respond: $1$2$3$4',
    remedy: 'Start it in the sandbox before, or have the tests use one that needs no server. Other machines are out of reach.',
    in_tests: true,
  },
  {
    code: 'database_auth',
    pattern:
      /password authentication failed for user "([^"]{1,100})"|Access denied for user '([^']{1,100})'|FATAL: {1,2}(?:role|database) "([^"]{1,100})" does not exist|Unknown database '([^']{1,100})'|no such table: (\S{1,100})|relation "([^"]{1,100})" does not exist/,
    title: 'A database lacks something',
    cause: 'The server is there; the user, the database or a table is not: $1$2$3$4$5$6',
    remedy: 'Create it, and run the migrations first.',
    in_tests: true,
  },
  {
    code: 'docker_missing',
    pattern:
      /Cannot connect to the Docker daemon(?: at (\S{1,200}?)\.(?:\s|$))?|docker\.sock: (?:connect|connection)|docker: (?:command )?not found|Could not find a valid Docker environment|Could not find a working container runtime|Is the docker daemon running|docker-compose: (?:command )?not found/,
    title: 'There is no Docker here',
    cause: 'The command needs a Docker daemon, and a sandbox has none.',
    remedy: 'Run the service it wants directly in the sandbox, or leave out the tests that need containers.',
  },
  {
    code: 'connection_refused',
    pattern: /\bECONNREFUSED\b ?(\S{0,100})|[Cc]onnection refused|Failed to connect to (\S{1,200}) port \d{1,5}|actively refused it/,
    title: 'A connection was refused',
    cause: 'Nothing listens there, or what is outside of the sandbox is out of reach: $1$2',
    remedy:
      'Something local: start it first and wait until it listens. Something outside: allow its host, and have the program use HTTPS_PROXY.',
    in_tests: true,
  },
  {
    code: 'network_unreachable',
    pattern: /\b(?:ENETUNREACH|EHOSTUNREACH)\b ?(\S{0,100})|[Nn]etwork is unreachable|[Nn]o route to host|Network unreachable/,
    title: 'The network is out of reach',
    cause: 'A sandbox has no network but its proxy: the program went around it: $1',
    remedy: 'Allow the host for the repository and have the program use HTTPS_PROXY.',
    in_tests: true,
  },
  {
    code: 'network_timeout',
    pattern:
      /\b(?:ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)\b ?(\S{0,100})|[Cc]onnection timed out|(?:Read|Connect) ?[Tt]imed? ?out|ReadTimeoutError|ConnectTimeoutError|Operation timed out|TLS handshake timeout|i\/o timeout/,
    title: 'A connection timed out',
    cause: 'The other side did not respond in time: $1',
    remedy: 'Try again; if it stays, allow the host, use a mirror, or raise the time-out.',
    in_tests: true,
  },
  {
    code: 'connection_reset',
    pattern:
      /\bECONNRESET\b|[Cc]onnection reset by peer|socket hang up|RemoteDisconnected|unexpected EOF|Empty reply from server|The remote end hung up unexpectedly/,
    title: 'A connection broke off',
    cause: 'The other side, or something on the way, ended the connection.',
    remedy: 'Try again; if it persists, check the other side.',
    in_tests: true,
  },
  {
    code: 'http_error',
    pattern:
      /The requested URL returned error: (\d{3})|HTTP Error (\d{3}): (.{1,60})|server returned (?:HTTP response code: |HTTP )?(\d{3})|Request failed with status code (\d{3})|ERROR (\d{3}): (.{1,60})\.$/i,
    title: 'A server responded with an error',
    cause: 'It responded with $1$2$4$5$6 $3$7',
    remedy: '401 and 403: credentials or rights; 404: the address; 5xx: try again later.',
    in_tests: true,
    general: true,
  },
]
