import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import Settings
import StoreModel

/// The check of `petrel doctor` that connects to APNs.
extension APNsChannel {
  /// The time limit for connecting, and also for the answer. It is shorter than the 5 seconds for
  /// the whole check, so that the finding gives the reason for a failure.
  private static let patience = Duration.seconds(4)

  /// One target of a probe: a host of APNs and a topic, with the containers and environments that send
  /// to the host with the same settings.
  private struct ProbeTarget: Sendable {
    /// The identifiers of the containers, in ascending order.
    var containers: [String]
    var environments: [APNsEnvironment]
    var settings: APNsSettings
    var topic: String

    /// The containers, the topic if they have several, and the environment if it is one, as text for a
    /// finding.
    var name: String {
      containers.joined(separator: ", ") + (settings.topics.count > 1 ? ", topic \(topic)" : "")
        + (environments.count == 1 ? " (\(environments[0].rawValue))" : "")
    }
  }

  /// Sends one probe (``APNsProbe``) for each ``ProbeTarget``, all at the same time, and returns a finding
  /// for each probe. Containers with equal settings share a probe. Each of Apple's two hosts gets
  /// its own probe.
  ///
  /// A credential file that is not usable gives no finding here: ``fileChecks(of:)`` reports it.
  ///
  /// - Parameter date: Receives the `Date` header field of an answer, `nil` if there is none, and
  ///   the host with its port. `petrel doctor` compares that date with this machine's clock.
  package static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] {
    let loop: EventLoop
    do {
      loop = try EventLoop(name: "petrel-doctor")
    } catch {
      return [
        .problem(
          "the connection to APNs cannot be checked: \(error.reason)",
          "raise the limit of open files (ulimit -n)")
      ]
    }
    defer { loop.shutDown() }
    return await withTaskGroup(of: (Int, Finding?).self) { group in
      for (number, target) in targets(of: configuration).enumerated() {
        group.addTask { (number, await ask(target, loop, noting: date)) }
      }
      var findings: [(Int, Finding)] = []
      for await (number, finding) in group {
        if let finding { findings.append((number, finding)) }
      }
      return findings.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Returns the targets of the probes.
  ///
  /// Each topic has targets of its own. Containers with the same settings share a target. A configured
  /// host serves both environments, so it is one target. Without a configured host, each environment has
  /// a target: its host at Apple.
  private static func targets(of containers: Configuration) -> [ProbeTarget] {
    let grouped = Dictionary(grouping: containers.keys.sorted()) { containers[$0] }
    return grouped.compactMap { settings, names in
      settings.map { (names, $0) }
    }
    .sorted { $0.0[0] < $1.0[0] }
    .flatMap { names, settings in
      settings.topics.flatMap { topic in
        (settings.host == nil
          ? APNsEnvironment.allCases.map { [$0] } : [APNsEnvironment.allCases]).map {
            ProbeTarget(containers: names, environments: $0, settings: settings, topic: topic)
          }
      }
    }
  }

  /// Sends a probe and returns the finding; `nil` if the credential's files are not usable. The
  /// parameters are the target, the event loop of the connection, and the receiver of the date.
  private static func ask(
    _ target: ProbeTarget, _ loop: EventLoop, noting date: @Sendable (String?, String) -> Void
  ) async -> Finding? {
    // `fileChecks(of:)` reports files that are not usable.
    guard
      var client = try? target.settings.client(
        to: target.environments.first ?? .production, topic: target.topic,
        container: target.containers.first ?? "")
    else { return nil }
    client.connectTimeout = patience
    client.answerTimeout = patience
    let place = "\(client.host):\(client.port)"
    let name = target.name
    do {
      let answer = try await APNsProbe.ask(
        client, topic: target.topic, loop: loop, at: .now)
      date(answer.date, place)
      return judge(answer, of: name, at: place)
    } catch {
      let proxy = client.proxy.map { " through the proxy \($0)" } ?? ""
      return .problem(
        "\(name): \(place) cannot be reached\(proxy): \(error)",
        "check this machine's name server, firewall and proxy; APNs also listens on port 2197")
    }
  }

  /// Returns the finding for an answer.
  ///
  /// - Parameters:
  ///   - name: The containers, as text. For one of Apple's hosts, also the environment.
  ///   - place: The host with its port.
  static func judge(_ answer: APNsProbe, of name: String, at place: String) -> Finding {
    let said = "\(answer.status) \(answer.reason ?? "")".trimmingCharacters(in: .whitespaces)
    switch answer.verdict {
    case .accepted:
      return .ok("\(name): \(place) accepts pushes from this sender")
    case .refused(let advice):
      return .problem("\(name): \(place) refuses this sender: \(said)", advice)
    case .undecided:
      return .warning(
        "\(name): \(place) answers \(said), which does not show whether it accepts this sender",
        "run the check again later; see https://developer.apple.com/system-status/")
    }
  }
}
