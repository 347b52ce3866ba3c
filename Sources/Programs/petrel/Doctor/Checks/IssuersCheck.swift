import Configuration
import OpenIDConnect
import Settings

/// The check of the OpenID Connect issuers, the services with which users sign in: whether each is
/// reachable and matches the configuration.
struct IssuersCheck: Sendable {
  let configuration: ServerConfiguration
  let samples: ClockSamples

  /// Asks all issuers at the same time and returns a finding for each, in the order of their names.
  func findings() async -> [Finding] {
    let issuers = configuration.signIn.issuers.sorted { $0.key < $1.key }
    return await withTaskGroup(of: (Int, Finding).self) { group in
      for (number, issuer) in issuers.enumerated() {
        group.addTask { (number, await look(at: issuer.value, named: issuer.key)) }
      }
      var findings: [(Int, Finding)] = []
      for await finding in group { findings.append(finding) }
      return findings.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  private func look(at settings: IssuerSettings, named name: String) async -> Finding {
    do {
      let date = try await Issuer(settings).checkReachability()
      samples.note(date, from: settings.issuer)
      return .ok("\(name): \(settings.issuer) answers, and publishes its keys")
    } catch {
      return .problem(
        "\(name): users cannot sign in with it: \(error)",
        "allow this machine to connect to it, and write 'issuer' exactly as the issuer does")
    }
  }
}
