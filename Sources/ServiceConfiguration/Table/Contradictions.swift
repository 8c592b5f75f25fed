// Rules about several settings together. Rules about one value are in the setting's format.

extension Setting {
    /// One sentence for each rule that the settings break.
    static func contradictions(in settings: Settings) -> [String] {
        var found: [String] = []
        if settings.listenURL != nil, settings.databaseURL == nil {
            found.append("PARLEY_LISTEN_URL needs PARLEY_DATABASE_URL: set both or neither.")
        }
        if settings.readURL != nil, settings.databaseURL == nil {
            found.append("PARLEY_READ_URL needs PARLEY_DATABASE_URL: set both or neither.")
        }
        if (settings.tlsCertificateFile == nil) != (settings.tlsKeyFile == nil) {
            found.append("PARLEY_TLS_CERTIFICATE_FILE and PARLEY_TLS_KEY_FILE belong together: set both or neither.")
        }
        if settings.mailServer != nil, settings.mailSender == nil {
            found.append("PARLEY_SMTP_URL needs PARLEY_MAIL_FROM: set the sender's address.")
        }
        if settings.jwtKeysFile == nil, settings.jwtIssuer != nil || settings.jwtAudience != nil {
            found.append(
                "PARLEY_JWT_ISSUER and PARLEY_JWT_AUDIENCE need PARLEY_JWT_KEYS: set the file with the keys.")
        }
        if case .address(let host, let port) = settings.metrics, port == settings.httpPort, host == settings.httpHost {
            found.append("PARLEY_METRICS has the same address and port as the HTTP API: set another port.")
        }
        if settings.scanFail == .open, settings.scanner == nil {
            found.append("PARLEY_SCAN_FAIL=open needs PARLEY_SCAN_URL: set the virus scanner's address.")
        }
        if settings.policyFail == .closed, settings.policyURL == nil {
            found.append("PARLEY_POLICY_FAIL=closed needs PARLEY_POLICY_URL: set the policy's address.")
        }
        let apns = [settings.apnsKeyFile, settings.apnsKeyID, settings.apnsTeamID]
        if apns.contains(where: { $0 == nil }), apns.contains(where: { $0 != nil }) {
            found.append(
                "PARLEY_APNS_KEY_FILE, PARLEY_APNS_KEY_ID and PARLEY_APNS_TEAM_ID belong together: set all or none.")
        }
        let s3 = [settings.s3Endpoint, settings.s3Bucket, settings.s3AccessKey, settings.s3SecretKey]
        if s3.contains(where: { $0 == nil }), s3.contains(where: { $0 != nil }) {
            found.append(
                "PARLEY_S3_ENDPOINT, PARLEY_S3_BUCKET, PARLEY_S3_ACCESS_KEY and PARLEY_S3_SECRET_KEY belong together: "
                    + "set all or none.")
        }
        let limits = settings.limits
        if limits.payloadByteCountMax < limits.textByteCountMax {
            found.append(
                "PARLEY_PAYLOAD_BYTES_MAX (\(limits.payloadByteCountMax)) is below PARLEY_TEXT_BYTES_MAX "
                    + "(\(limits.textByteCountMax)): raise it, because a payload contains the text.")
        }
        if limits.retentionMaxS > 0, limits.retentionDefaultS > limits.retentionMaxS {
            found.append(
                "PARLEY_RETENTION_DEFAULT (\(limits.retentionDefaultS)) is above PARLEY_RETENTION_MAX "
                    + "(\(limits.retentionMaxS)): lower it.")
        }
        return found
    }
}
