//! TLS from two PEM files.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::TlsFiles;

/// Why TLS cannot be spoken.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file holds no certificate or key.
    #[error("read {path}")]
    Pem {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rustls_pki_types::pem::Error,
    },
    /// Certificate and key do not fit.
    #[error("use the certificate")]
    Unusable(#[from] rustls::Error),
}

/// Reads the files. Blocks.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let pem = |path: &PathBuf| {
        let path = path.clone();
        move |source| TlsError::Pem { path, source }
    };
    let chain = CertificateDer::pem_file_iter(&files.certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(pem(&files.certificates))?;
    if chain.is_empty() {
        let none = rustls_pki_types::pem::Error::NoItemsFound;
        return Err(pem(&files.certificates)(none));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(pem(&files.key))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
