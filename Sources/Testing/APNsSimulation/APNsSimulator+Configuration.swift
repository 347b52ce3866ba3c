import CloudKitModel
import Cryptography

extension APNsSimulator {
  /// The settings of a simulator: its address, the credentials that it accepts, and its limits.
  public struct Configuration: Sendable {
    /// The IP address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port, which ``APNsSimulator/port`` returns.
    public var port = 0
    /// The host names and IP addresses in the server's certificate.
    public var certificateHosts = ["localhost", "127.0.0.1", "::1"]
    /// The authority that issues the server's certificate; nil for a new authority at each start.
    public var authority: CertificateAuthority?
    /// The path of the file to which the simulator writes the authority's certificate, in PEM.
    /// Senders must trust that certificate. Nil writes no file.
    public var authorityCertificatePath: String?

    /// The keys that may sign provider tokens. Nil accepts tokens of any key, and does not verify
    /// their signatures.
    public var keys: [ProviderKey]?
    /// The APNs environment that the simulator imitates: `development` is Apple's sandbox.
    public var environment: ContainerEnvironment = .development

    /// The certificate of an authority, as PEM. Clients may show certificates of this authority
    /// instead of provider tokens. With nil, the simulator does not ask clients for certificates.
    public var clientAuthorityPEM: String?

    /// The number of requests that a client may have open on one connection. Apple's own limit is
    /// reported to be 1,000.
    public var maximumConcurrentStreams = 1000
    /// Whether a new connection may have only one open request until a request has passed all
    /// checks (``APNsRequestValidator``). Apple's service is reported to do this.
    public var startsWithOneStream = false
    /// The number of requests after which the simulator ends a connection with GOAWAY; nil for no
    /// limit.
    public var requestsPerConnection: Int?

    /// The faults that the simulator has from its start on.
    public var script: [APNsFault.Targeted] = []

    /// The number of received pushes that the simulator keeps. When more come, it deletes the
    /// oldest.
    public var keptPushes = 10_000
    /// The clock, for the age of provider tokens and the times of pushes.
    public var clock: @Sendable () -> Timestamp = { .now }

    /// Creates settings for the sandbox on a free port of the loopback address, without faults. The
    /// simulator then accepts every provider token with the right format and age.
    public init() {}
  }
}
